/** Markers that carry a frame header (SOF0 to SOF15), without DHT, JPG and DAC among them. */
const FRAME_HEADERS = new Set([
  0xc0, 0xc1, 0xc2, 0xc3, 0xc5, 0xc6, 0xc7, 0xc9, 0xca, 0xcb, 0xcd, 0xce, 0xcf,
]);
const START_OF_SCAN = 0xda;

/**
 * Samples that a JPEG stores for each pixel: 1.5 with 4:2:0 colour, 3 with 4:4:4, 4 for CMYK.
 * libvips reports every kind of subsampling as 4:2:0, and the header can declare stranger ones.
 *
 * @returns undefined when no frame header comes before the first scan
 */
export function samplesPerPixel(jpeg: Uint8Array): number | undefined {
  let at = 2;
  while (at + 4 <= jpeg.length) {
    const marker = jpeg[at + 1] ?? 0;
    if (jpeg[at] !== 0xff || marker === 0xff) {
      // Stray bytes before a marker: decoders skip them.
      at += 1;
      continue;
    }
    if (marker === START_OF_SCAN) return undefined;
    const length = 2 + read16(jpeg, at + 2);
    if (FRAME_HEADERS.has(marker)) return countSamples(jpeg.subarray(at, at + length));
    at += isBare(marker) ? 2 : length;
  }
  return undefined;
}

/** Marker (2), length (2), precision (1), height (2), width (2), components (1), then 3 for each. */
function countSamples(frame: Uint8Array): number {
  const components = frame[9] ?? 0;
  const areas: number[] = [];
  let across = 1;
  let down = 1;
  for (let index = 0; index < components; index += 1) {
    const factors = frame[10 + index * 3 + 1] ?? 0x11;
    across = Math.max(across, factors >> 4);
    down = Math.max(down, factors & 15);
    areas.push((factors >> 4) * (factors & 15));
  }
  return areas.reduce((sum, area) => sum + area / (across * down), 0);
}

/** TEM and the restart markers have no length. */
function isBare(marker: number): boolean {
  return marker === 0x01 || marker === 0x00 || (marker >= 0xd0 && marker <= 0xd8);
}

function read16(bytes: Uint8Array, at: number): number {
  return ((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0);
}
