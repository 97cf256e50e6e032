import type { Look } from './develop.ts';
import type { Paint } from './frame.ts';

export interface Picture {
  /** The object's name; its ending says the format. */
  name: string;
  /** What is in it, for the eye that compares: two of a kind are variations. */
  kind: string;
  /** Upright, in pixels. */
  size: readonly [width: number, height: number];
  paint: Paint;
  look?: Look;
  progressive?: boolean;
  /** How it is stored: EXIF's 2 to 8; upright without it. */
  orientation?: number;
}

/** Proportions of cameras, telephones, and what people cut from them. */
export const WIDE = [1680, 1120] as const;
export const CLASSIC = [1480, 1110] as const;
export const SCREEN = [1760, 990] as const;
export const PANORAMA = [2200, 880] as const;
export const TALL = [1080, 1620] as const;
export const PORTRAIT = [1140, 1520] as const;
export const PHONE = [1080, 1920] as const;
export const SQUARE = [1320, 1320] as const;
