import { sharp } from '../../shared/thumbnails/engine.ts';
import { develop, grainOf } from './develop.ts';
import { enlarge, type Pixels } from './enlarge.ts';
import { Frame } from './frame.ts';
import type { Picture } from './picture.ts';

/**
 * Frames are at most this many pixels square; larger pictures are enlarged, and their grain is put
 * on at full size. The largest thumbnail is hardly larger, and 24 megapixels would take a minute.
 */
const WORKING_UNIT = 540;

/** @param scale a part of the picture's declared size, for those who only want a look */
export async function render(picture: Picture, scale = 1): Promise<Buffer> {
  const [width, height] = picture.size.map((side) => Math.max(2, Math.round(side * scale)));
  const full = { width: width ?? 2, height: height ?? 2 };
  const shrink = Math.min(1, WORKING_UNIT / Math.sqrt(full.width * full.height));
  const frame = new Frame(Math.round(full.width * shrink), Math.round(full.height * shrink));
  picture.paint(frame);
  const look = picture.look ?? {};
  const orientation = picture.orientation ?? 1;
  const stored = turn(
    { data: develop(frame, look), width: frame.width, height: frame.height },
    orientation,
  );
  const sideways = orientation >= 5;
  const size = {
    width: sideways ? full.height : full.width,
    height: sideways ? full.width : full.height,
  };
  // Fine grain in a large file costs megabytes and is not seen.
  const large = size.width * size.height > 6_000_000;
  const grain = grainOf(look) * (large ? 0.45 : 1);
  const enlarged = enlarge(stored, size, grain, picture.name.length * 97);
  return encode(picture, enlarged, large ? 78 : 82);
}

async function encode(
  picture: Picture,
  { data, width, height }: Pixels,
  quality: number,
): Promise<Buffer> {
  const image = sharp(data, { raw: { width, height, channels: 3 } });
  if (picture.orientation !== undefined) image.withMetadata({ orientation: picture.orientation });
  switch (formatOf(picture.name)) {
    case 'png':
      return image.png({ compressionLevel: 4 }).toBuffer();
    case 'webp':
      return image.webp({ quality, effort: 1 }).toBuffer();
    case 'avif':
      return image.avif({ quality: 55, effort: 0 }).toBuffer();
    default:
      // Huffman tables made to measure would save a tenth of the bytes and take three times as long.
      return image
        .jpeg({ quality, progressive: picture.progressive ?? false, optimiseCoding: false })
        .toBuffer();
  }
}

function formatOf(name: string): string {
  return name.slice(name.lastIndexOf('.') + 1).toLowerCase();
}

/** From upright to how a camera held that way would have stored it. */
function turn(upright: Pixels, orientation: number): Pixels {
  if (orientation === 1) return upright;
  const sideways = orientation >= 5;
  const width = sideways ? upright.height : upright.width;
  const height = sideways ? upright.width : upright.height;
  const data = Buffer.allocUnsafe(upright.data.length);
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      const [fromX, fromY] = uprightPlace(orientation, x, y, width, height);
      const from = (fromY * upright.width + fromX) * 3;
      const to = (y * width + x) * 3;
      data[to] = upright.data[from] ?? 0;
      data[to + 1] = upright.data[from + 1] ?? 0;
      data[to + 2] = upright.data[from + 2] ?? 0;
    }
  }
  return { data, width, height };
}

/** Where a stored pixel stands upright: EXIF's table of which row and column come first. */
function uprightPlace(
  orientation: number,
  x: number,
  y: number,
  width: number,
  height: number,
): readonly [x: number, y: number] {
  const right = width - 1 - x;
  const bottom = height - 1 - y;
  switch (orientation) {
    case 2:
      return [right, y];
    case 3:
      return [right, bottom];
    case 4:
      return [x, bottom];
    case 5:
      return [y, x];
    case 6:
      return [bottom, x];
    case 7:
      return [bottom, right];
    case 8:
      return [y, right];
    default:
      return [x, y];
  }
}
