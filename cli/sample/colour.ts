/** Linear light: 1 is white paper in the sun, a sun or a lamp is many times that. */
export interface Colour {
  readonly r: number;
  readonly g: number;
  readonly b: number;
}

const PARSED = new Map<string, Colour>();

/**
 * @param code '#rrggbb' as seen on a screen
 * @param strength how many times as bright
 */
export function hex(code: string, strength = 1): Colour {
  let colour = PARSED.get(code);
  if (colour === undefined) {
    colour = { r: channel(code, 1), g: channel(code, 3), b: channel(code, 5) };
    PARSED.set(code, colour);
  }
  return strength === 1 ? colour : scale(colour, strength);
}

function channel(code: string, at: number): number {
  const value = Number.parseInt(code.slice(at, at + 2), 16) / 255;
  return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
}

export function grey(value: number): Colour {
  return { r: value, g: value, b: value };
}

export function mix(from: Colour, to: Colour, t: number): Colour {
  const k = t < 0 ? 0 : Math.min(t, 1);
  return {
    r: from.r + (to.r - from.r) * k,
    g: from.g + (to.g - from.g) * k,
    b: from.b + (to.b - from.b) * k,
  };
}

export function scale(colour: Colour, k: number): Colour {
  return { r: colour.r * k, g: colour.g * k, b: colour.b * k };
}

/** `base` and `k` times `light`. */
export function plus(base: Colour, light: Colour, k = 1): Colour {
  return { r: base.r + light.r * k, g: base.g + light.g * k, b: base.b + light.b * k };
}

/** A surface of that colour in that light. */
export function lit(surface: Colour, light: Colour): Colour {
  return { r: surface.r * light.r, g: surface.g * light.g, b: surface.b * light.b };
}
