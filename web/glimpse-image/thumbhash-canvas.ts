import { thumbHashToRGBA } from 'thumbhash';

/**
 * The blur that a thumbhash describes, about 32 pixels wide, for CSS to enlarge: a data: URL would
 * need a place of its own in a page's Content-Security-Policy. It has the class `opaque` unless
 * the picture has transparent parts. Undefined where it is no thumbhash.
 */
export function drawThumbhash(base64: string): HTMLCanvasElement | undefined {
  try {
    const hash = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
    const { w, h, rgba } = thumbHashToRGBA(hash);
    const canvas = document.createElement('canvas');
    // The format's own flag for an alpha channel.
    if (((hash[2] ?? 0) & 0x80) === 0) canvas.className = 'opaque';
    canvas.width = w;
    canvas.height = h;
    const context = canvas.getContext('2d');
    context?.putImageData(new ImageData(new Uint8ClampedArray(rgba), w, h), 0, 0);
    return canvas;
  } catch {
    return undefined;
  }
}
