import type { Variant } from './variant.ts';

export interface Size {
  width: number;
  height: number;
}

/**
 * JPEG's own limit, with a margin. Formats that allow more let a kilobyte declare a picture of
 * 3,145,792×48, whose lines alone filled 2 GB.
 */
export const MAX_SIDE = 65_535;

/** How a variant is cut from a picture: scale the whole to `scaled`, keep `crop` of its middle. */
export interface Cut {
  scaled: Size;
  crop: Size;
}

/**
 * Where a variant lands for a picture of the given size, seen the way the variant shows it.
 *
 * Pixels are never enlarged. `inside` keeps the whole picture. `cover` promises the box's shape, not
 * its size: when the picture is smaller than the box, the box shrinks, proportions kept, until the
 * picture covers it, so 300×600 in a box of 480×480 gives 300×300. No side is less than 1, nor more
 * than the box's.
 *
 * @param most how many times the picture may be enlarged: 1 unless it was drawn larger than it is
 */
export function cut(picture: Size, { width, height, fit }: Variant, most = 1): Cut {
  const across = width / picture.width;
  const down = height / picture.height;
  if (fit === 'inside') {
    const scaled = scale(picture, Math.min(across, down, most));
    return { scaled, crop: scaled };
  }
  const fill = Math.max(across, down);
  const crop = fill > most ? scale({ width, height }, most / fill) : { width, height };
  const scaled = scale(picture, Math.min(fill, most));
  return {
    // Rounding must not leave the picture a pixel short of its crop.
    scaled: {
      width: Math.max(scaled.width, crop.width),
      height: Math.max(scaled.height, crop.height),
    },
    crop,
  };
}

/** The smallest size of the whole picture that no variant has to enlarge. */
export function largest(sizes: readonly Size[]): Size {
  return {
    width: Math.max(1, ...sizes.map(({ width }) => width)),
    height: Math.max(1, ...sizes.map(({ height }) => height)),
  };
}

/** Lying for upright and back: orientations 5 to 8 exchange the sides. */
export function turned(size: Size, orientation: number): Size {
  return orientation >= 5 ? { width: size.height, height: size.width } : size;
}

function scale({ width, height }: Size, factor: number): Size {
  return {
    width: Math.max(1, Math.round(width * factor)),
    height: Math.max(1, Math.round(height * factor)),
  };
}
