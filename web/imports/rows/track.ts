// A list of a million rows is longer than browsers let an element be. Its track is as long as they
// do; near both ends a pixel of it is a pixel of the list, and between them it stands for more.

export interface Track {
  /** Of all rows, in CSS pixels. */
  readonly length: number;
  /** Of the element that is scrolled over. */
  readonly height: number;
  readonly rowHeight: number;
}

/** Firefox has the least of all: 17.9 million. */
const LONGEST = 8_000_000;

/** Pixels at both ends that are never stretched. */
const EXACT = 1_000_000;

export function trackOf(rows: number, rowHeight: number): Track {
  const length = rows * rowHeight;
  return { length, height: Math.min(length, LONGEST), rowHeight };
}

/** The place in the list that a place on the element stands for; both count from the top. */
export function placeAt({ length, height }: Track, scrolled: number): number {
  if (length === height || scrolled <= EXACT) return scrolled;
  const end = height - EXACT;
  if (scrolled >= end) return scrolled + length - height;
  return EXACT + ((scrolled - EXACT) * (length - 2 * EXACT)) / (end - EXACT);
}

/** The inverse of `placeAt`. */
export function scrolledTo({ length, height }: Track, place: number): number {
  if (length === height || place <= EXACT) return place;
  if (place >= length - EXACT) return place - length + height;
  return EXACT + ((place - EXACT) * (height - 2 * EXACT)) / (length - 2 * EXACT);
}

export interface Position {
  /** Of the element's top above the screen's. */
  readonly scrolled: number;
  /** What the list is ahead of the element there. */
  readonly offset: number;
}

/**
 * Where scrolling leads: a turn of the wheel moves the rows by as much as it says, also where the
 * track is stretched; a drag of the bar goes where the bar is.
 *
 * @param near pixels up to which a scroll is a turn of the wheel
 */
export function moved(track: Track, before: Position, scrolled: number, near: number): Position {
  const exact = placeAt(track, scrolled) - scrolled;
  if (track.length === track.height || isExact(track, scrolled)) return { scrolled, offset: exact };
  const small = Math.abs(scrolled - before.scrolled) <= near;
  return { scrolled, offset: small ? before.offset : exact };
}

/** When scrolling has come to rest: the bar is put to where the rows are. Undefined if it is there. */
export function settled(track: Track, { scrolled, offset }: Position): Position | undefined {
  if (track.length === track.height || isExact(track, scrolled)) return undefined;
  const place = scrolled + offset;
  const there = Math.round(scrolledTo(track, place));
  return there === scrolled ? undefined : { scrolled: there, offset: place - there };
}

function isExact({ height }: Track, scrolled: number): boolean {
  return scrolled <= EXACT || scrolled >= height - EXACT;
}
