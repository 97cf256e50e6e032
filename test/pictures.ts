import sharp, { type Sharp } from 'sharp';

// Pictures that the tests make for themselves; the same ones each time.

/**
 * Asymmetrical: red top left, green top right, blue bottom left, yellow bottom right, each quarter
 * shaded, so that no turn or mirror image of it equals another.
 */
export function quarters(width = 96, height = 64): Sharp {
  const corners = [
    [220, 40, 40],
    [40, 180, 60],
    [50, 70, 210],
    [230, 210, 60],
  ] as const;
  const data = Buffer.alloc(width * height * 3);
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      const quarter = (y * 2 >= height ? 2 : 0) + (x * 2 >= width ? 1 : 0);
      const shade = ((x * 31) / width + (y * 17) / height) | 0;
      for (let c = 0; c < 3; c += 1) {
        data[(y * width + x) * 3 + c] = Math.max(0, (corners[quarter]?.[c] ?? 0) - shade);
      }
    }
  }
  return sharp(data, { raw: { width, height, channels: 3 } });
}

/** One colour: the cheapest picture of a size. */
export function plain(width: number, height: number, background = '#3366cc'): Sharp {
  return sharp({ create: { width, height, channels: 3, background }, limitInputPixels: false });
}

/**
 * A grey JPEG of any size in milliseconds, where encoding 200 MP would take twenty seconds. With
 * the code `0` for "no difference" and for "end of block", the picture is nothing but zero bits:
 * six a macroblock of 16×16 for the DC, six more for the AC that a progressive one may omit.
 *
 * @param share how much of the picture's data to write, 0 for the header alone
 */
export function greyJpeg(
  width: number,
  height: number,
  { progressive = false, share = 1 }: { progressive?: boolean; share?: number } = {},
): Buffer {
  const macroblocks = Math.ceil(width / 16) * Math.ceil(height / 16);
  const bits = macroblocks * (progressive ? 6 : 12) * share;
  const frame = [8, height >> 8, height & 255, width >> 8, width & 255, 3];
  // Luma at full resolution, both colour components at half: 4:2:0.
  frame.push(1, 0x22, 0, 2, 0x11, 0, 3, 0x11, 0);
  const oneCode = [1, ...Array<number>(15).fill(0), 0];
  return Buffer.concat([
    Buffer.from([0xff, 0xd8]),
    jpegSegment(0xdb, [0, ...Array<number>(64).fill(1)]),
    jpegSegment(progressive ? 0xc2 : 0xc0, frame),
    jpegSegment(0xc4, [0x00, ...oneCode]),
    jpegSegment(0xc4, [0x10, ...oneCode]),
    jpegSegment(0xda, [3, 1, 0, 2, 0, 3, 0, 0, progressive ? 0 : 63, 0]),
    Buffer.alloc(Math.ceil(bits / 8)),
    Buffer.from([0xff, 0xd9]),
  ]);
}

/** The JPEG with another segment right after its start. */
export function withSegment(jpeg: Uint8Array, marker: number, body: Uint8Array): Buffer {
  return Buffer.concat([jpeg.subarray(0, 2), jpegSegment(marker, [...body]), jpeg.subarray(2)]);
}

function jpegSegment(marker: number, body: readonly number[]): Buffer {
  const length = body.length + 2;
  return Buffer.from([0xff, marker, length >> 8, length & 255, ...body]);
}

const SVG = 'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"';

export function svg(body: string, size = 'width="120" height="80"', doctype = ''): Buffer {
  return Buffer.from(`${doctype}<svg ${SVG} ${size}>${body}</svg>`);
}
