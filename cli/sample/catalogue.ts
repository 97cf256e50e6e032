import { hex } from './colour.ts';
import type { Picture } from './picture.ts';
import { LAND } from './pictures/land.ts';
import { NEAR } from './pictures/near.ts';
import { WATER_AND_NIGHT } from './pictures/water.ts';
import { sea } from './scenes/sea.ts';
import { boat } from './scenes/shore.ts';

const GALLERY = 'sample';
const ORIENTATIONS = 'sample/orientations';

/** What cannot be shown: half a JPEG, as a broken card leaves it, and a format nobody decodes here. */
export const DAMAGED = `${GALLERY}/damaged-card.jpg`;
export const UNSUPPORTED = `${GALLERY}/IMG_4512.HEIC`;

/** By the object's key. */
export const PICTURES: ReadonlyMap<string, Picture> = new Map(
  [
    ...[...LAND, ...WATER_AND_NIGHT, ...NEAR].map(
      (picture) => [`${GALLERY}/${picture.name}`, picture] as const,
    ),
    ...turnedEachWay().map((picture) => [`${ORIENTATIONS}/${picture.name}`, picture] as const),
  ].sort(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b))),
);

/** The keys of the whole sample, in the order of a listing. */
export const SAMPLE_IMAGES: readonly string[] = [...PICTURES.keys(), DAMAGED, UNSUPPORTED].sort(
  (a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)),
);

export const SAMPLE_COUNT = SAMPLE_IMAGES.length;

/** The same boat, stored in each of the eight ways: all of them must look alike. */
function turnedEachWay(): Picture[] {
  const paint = sea({
    seed: 29,
    hour: 'morning',
    sun: { x: 0.8, y: 0.5, z: -0.2 },
    body: hex('#12607a', 0.5),
    clouds: { cover: 0.45, scale: 0.7, softness: 0.25 },
    floating: boat({
      x: 0.36,
      below: 0.05,
      size: 0.36,
      sail: hex('#f6f0e4'),
      hull: hex('#8a2a1c'),
      light: 0.95,
    }),
  });
  return Array.from({ length: 8 }, (_, index) => ({
    name: `orientation-${index + 1}.jpg`,
    kind: 'orientation',
    size: [720, 480],
    paint,
    orientation: index + 1,
  }));
}
