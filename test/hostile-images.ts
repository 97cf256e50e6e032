import { crc32, deflateSync, gzipSync } from 'node:zlib';
import sharp, { type Sharp } from 'sharp';
import { greyJpeg, plain, quarters, svg, withSegment } from './pictures.ts';

/** What must become of an object of these bytes in a function of 1,769 MB. */
export interface HostileImage {
  name: string;
  bytes: () => Promise<Buffer> | Buffer;
  expected: 'ready' | 'unsupported' | 'corrupt' | 'too-large';
}

/** Images that have brought thumbnailers down, or are mistaken for such. None takes a second. */
export const HOSTILE_IMAGES: readonly HostileImage[] = [
  { name: 'zero bytes', expected: 'corrupt', bytes: () => Buffer.alloc(0) },
  { name: 'one byte', expected: 'unsupported', bytes: () => Buffer.from([0xff]) },
  {
    name: 'HTML named .jpg',
    expected: 'unsupported',
    bytes: () => Buffer.from('<!DOCTYPE html><html><body><svg></svg></body></html>'),
  },
  { name: 'gzip named .png', expected: 'unsupported', bytes: () => gzipSync('not a picture') },
  { name: 'gzipped SVG', expected: 'unsupported', bytes: () => gzipSync(svg('<rect/>')) },
  { name: 'HEIC', expected: 'unsupported', bytes: () => mediaFile('heic', 'mif1', 'heic') },
  { name: 'HEIF of HEVC', expected: 'unsupported', bytes: () => mediaFile('mif1', 'mif1', 'hevc') },
  { name: 'MP4', expected: 'unsupported', bytes: () => mediaFile('isom', 'isom', 'mp42') },
  { name: 'PDF', expected: 'unsupported', bytes: () => Buffer.from('%PDF-1.7\n%\xe2\xe3') },

  {
    name: 'PNG bomb of 65,500 a side',
    expected: 'too-large',
    bytes: () => pngBomb(65_500, 65_500),
  },
  { name: 'JPEG bomb of 65,500 a side', expected: 'too-large', bytes: () => jpegBomb(false) },
  { name: 'progressive JPEG bomb', expected: 'too-large', bytes: () => jpegBomb(true) },
  { name: 'GIF bomb of 65,500 a side', expected: 'too-large', bytes: () => gifBomb() },
  { name: 'interlaced PNG of 268 MP', expected: 'too-large', bytes: () => pngBomb(16_383, 16_383) },
  {
    name: 'interlaced PNG of 3,145,792×48',
    expected: 'too-large',
    bytes: () => pngBomb(3_145_792, 48),
  },
  {
    name: 'progressive JPEG of 200 MP',
    expected: 'ready',
    bytes: () => greyJpeg(20_000, 10_000, { progressive: true }),
  },
  { name: 'baseline JPEG of 200 MP', expected: 'ready', bytes: () => greyJpeg(20_000, 10_000) },

  { name: 'JPEG cut at 60 %', expected: 'corrupt', bytes: () => cut(quarters(640, 480).jpeg()) },
  { name: 'PNG cut at 60 %', expected: 'corrupt', bytes: () => cut(quarters(640, 480).png()) },
  { name: 'WebP cut at 60 %', expected: 'corrupt', bytes: () => cut(quarters(640, 480).webp()) },
  { name: 'AVIF cut at 60 %', expected: 'corrupt', bytes: () => cut(quarters(640, 480).avif()) },
  { name: 'GIF cut at 60 %', expected: 'corrupt', bytes: () => cut(quarters(640, 480).gif()) },
  { name: 'TIFF cut at 60 %', expected: 'corrupt', bytes: () => cut(quarters(640, 480).tiff()) },
  {
    name: 'JPEG of a header alone',
    expected: 'corrupt',
    bytes: () => greyJpeg(640, 480, { share: 0 }).subarray(0, -2),
  },
  { name: 'PNG of random pixels data', expected: 'corrupt', bytes: () => brokenPng() },

  { name: 'animated GIF', expected: 'ready', bytes: async () => (await frames()).gif().toBuffer() },
  {
    name: 'animated WebP',
    expected: 'ready',
    bytes: async () => (await frames()).webp().toBuffer(),
  },
  { name: 'PNG of 180×4', expected: 'ready', bytes: () => quarters(180, 4).png().toBuffer() },
  {
    name: 'JPEG of 200×20000',
    expected: 'ready',
    bytes: () => plain(200, 20_000).jpeg().toBuffer(),
  },
  { name: 'PNG of 200×20000', expected: 'ready', bytes: () => plain(200, 20_000).png().toBuffer() },
  {
    name: 'GIF of 200×20000',
    expected: 'ready',
    bytes: () => plain(200, 20_000).gif({ effort: 1, dither: 0 }).toBuffer(),
  },
  {
    name: 'TIFF of 200×20000',
    expected: 'ready',
    bytes: () => plain(200, 20_000).tiff().toBuffer(),
  },
  {
    name: 'AVIF of 200×16000',
    expected: 'ready',
    bytes: () => plain(200, 16_000).avif({ effort: 0 }).toBuffer(),
  },
  {
    name: 'WebP of 200×16000',
    expected: 'ready',
    bytes: () => plain(200, 16_000).webp({ effort: 0 }).toBuffer(),
  },
  {
    name: 'SVG of 200×20000',
    expected: 'ready',
    bytes: () => svg('<rect width="200" height="20000"/>', 'width="200" height="20000"'),
  },
  { name: 'PNG of 65,500×1', expected: 'ready', bytes: () => plain(65_500, 1).png().toBuffer() },
  { name: 'PNG of 1×1', expected: 'ready', bytes: () => plain(1, 1).png().toBuffer() },

  {
    name: 'CMYK JPEG',
    expected: 'ready',
    bytes: () => quarters().toColourspace('cmyk').jpeg().toBuffer(),
  },
  {
    name: '16-bit PNG',
    expected: 'ready',
    bytes: () => quarters().toColourspace('rgb16').png().toBuffer(),
  },
  {
    name: 'P3 JPEG',
    expected: 'ready',
    bytes: () => quarters().withIccProfile('p3').jpeg().toBuffer(),
  },
  { name: 'grey JPEG', expected: 'ready', bytes: () => quarters().greyscale().jpeg().toBuffer() },
  {
    name: 'transparent PNG',
    expected: 'ready',
    bytes: () => quarters().ensureAlpha(0.3).png().toBuffer(),
  },
  { name: 'grey PNG with alpha', expected: 'ready', bytes: () => greyWithAlpha() },
  {
    name: 'palette PNG',
    expected: 'ready',
    bytes: () => quarters().png({ palette: true }).toBuffer(),
  },
  {
    name: 'interlaced PNG',
    expected: 'ready',
    bytes: () => quarters().png({ progressive: true }).toBuffer(),
  },
  {
    name: 'TIFF',
    expected: 'ready',
    bytes: () => quarters().tiff({ compression: 'lzw' }).toBuffer(),
  },
  { name: 'AVIF', expected: 'ready', bytes: () => quarters().avif({ effort: 0 }).toBuffer() },

  { name: 'EXIF that lies about the size', expected: 'ready', bytes: () => forgedExif() },
  { name: 'EXIF with a bad tag', expected: 'ready', bytes: () => badExif() },
  { name: 'EXIF of noise', expected: 'ready', bytes: () => inJpeg(0xe1, 'Exif\0\0', 4000) },
  {
    name: 'ICC profile of noise',
    expected: 'ready',
    bytes: () => inJpeg(0xe2, 'ICC_PROFILE\0\x01\x01', 600),
  },
  {
    name: 'XMP of noise',
    expected: 'ready',
    bytes: () => inJpeg(0xe1, 'http://ns.adobe.com/xap/1.0/\0', 900),
  },
  {
    name: 'stray bytes before a JPEG marker',
    expected: 'ready',
    bytes: () => strayBytes(),
  },

  {
    name: 'SVG with a script',
    expected: 'ready',
    bytes: () => svg('<script>while(true);</script><rect width="9" height="9"/>'),
  },
  {
    name: 'SVG with external references',
    expected: 'ready',
    bytes: () =>
      svg(
        '<image xlink:href="file:///etc/hostname" width="9" height="9"/><image href="http://169.254.169.254/latest/meta-data/" width="9" height="9"/>',
      ),
  },
  { name: 'SVG of a billion laughs', expected: 'unsupported', bytes: () => billionLaughs() },
  { name: 'SVG of one entity many times', expected: 'too-large', bytes: () => quadraticBlowUp() },
  {
    name: 'SVG with an external entity',
    expected: 'unsupported',
    bytes: () =>
      svg(
        '<text y="20">&x;</text>',
        undefined,
        '<!DOCTYPE svg [<!ENTITY x SYSTEM "file:///etc/passwd">]>',
      ),
  },
  {
    name: 'SVG with a picture bomb',
    expected: 'too-large',
    bytes: () => embedding(pngBomb(65_500, 65_500), 'png'),
  },
  {
    name: 'SVG in an SVG',
    expected: 'unsupported',
    bytes: () => embedding(svg('<rect/>'), 'svg+xml'),
  },
  {
    name: 'SVG of 1,000 filter steps',
    expected: 'too-large',
    bytes: () => svg(`<filter id="f">${'<feOffset dx="1"/>'.repeat(1000)}</filter>`),
  },
  { name: 'SVG of no size', expected: 'corrupt', bytes: () => svg('', 'width="0" height="0"') },
  {
    name: 'SVG that is not XML',
    expected: 'corrupt',
    bytes: () => Buffer.from('<svg><rect></svg>'),
  },
];

/** Box of brands, as ISO base media files start with. */
export function mediaFile(major: string, ...compatible: string[]): Buffer {
  const brands = Buffer.from(`ftyp${major}\0\0\0\0${compatible.join('')}`, 'latin1');
  const length = Buffer.alloc(4);
  length.writeUInt32BE(brands.length + 4);
  return Buffer.concat([length, brands, Buffer.alloc(64)]);
}

/** A header of 16-bit RGBA, interlaced, and a scrap of data: the refusal must come from the header. */
function pngBomb(width: number, height: number): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([16, 6, 0, 0, 1], 8);
  return png(header, deflateSync(Buffer.alloc(1_000_000)));
}

function png(header: Buffer, data: Buffer): Buffer {
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  const end = pngChunk('IEND', Buffer.alloc(0));
  return Buffer.concat([signature, pngChunk('IHDR', header), pngChunk('IDAT', data), end]);
}

function pngChunk(type: string, body: Buffer): Buffer {
  const content = Buffer.concat([Buffer.from(type, 'latin1'), body]);
  const frame = Buffer.alloc(8);
  frame.writeUInt32BE(body.length, 0);
  frame.writeUInt32BE(crc32(content), 4);
  return Buffer.concat([frame.subarray(0, 4), content, frame.subarray(4)]);
}

function brokenPng(): Buffer {
  const header = Buffer.from([0, 0, 0, 64, 0, 0, 0, 64, 8, 2, 0, 0, 0]);
  return png(header, noise(2000));
}

function jpegBomb(progressive: boolean): Buffer {
  return greyJpeg(65_500, 65_500, { progressive, share: 0.001 });
}

async function gifBomb(): Promise<Buffer> {
  const gif = await plain(8, 8).gif().toBuffer();
  // The screen's size, and that of the frame in its own descriptor.
  for (const at of [6, 8]) gif.writeUInt16LE(65_500, at);
  const descriptor = gif.indexOf(Buffer.from([0x2c, 0, 0, 0, 0, 8, 0, 8, 0]));
  for (const at of [5, 7]) gif.writeUInt16LE(65_500, descriptor + at);
  return gif;
}

async function cut(image: Sharp): Promise<Buffer> {
  const bytes = await image.toBuffer();
  return bytes.subarray(0, Math.floor(bytes.length * 0.6));
}

/** Red, then blue, then green. */
async function frames(): Promise<Sharp> {
  const colors = ['#ff0000', '#0000ff', '#00ff00'];
  const each = await Promise.all(colors.map((color) => plain(80, 60, color).png().toBuffer()));
  return sharp(each, { join: { animated: true } });
}

function greyWithAlpha(): Promise<Buffer> {
  const data = Buffer.alloc(64 * 64 * 2, 100);
  return sharp(data, { raw: { width: 64, height: 64, channels: 2 } })
    .toColourspace('b-w')
    .png()
    .toBuffer();
}

async function forgedExif(): Promise<Buffer> {
  const IFD2 = { PixelXDimension: '60000', PixelYDimension: '60000' };
  return quarters()
    .withExif({ IFD0: { ImageWidth: '60000' }, IFD2 })
    .jpeg()
    .toBuffer();
}

/** Orientation 6, and beside it a tag whose value lies 4 GB past the end. */
async function badExif(): Promise<Buffer> {
  const tags = [
    [0x0112, 3, 1, 0x0006_0000],
    [0x010f, 2, 0xffff_fff0, 0xffff_fff0],
  ] as const;
  const directory = Buffer.alloc(6 + 8 + 2 + tags.length * 12 + 4);
  directory.write('Exif\0\0MM\0*', 'latin1');
  directory.writeUInt32BE(8, 10);
  directory.writeUInt16BE(tags.length, 14);
  for (const [index, [tag, type, count, value]] of tags.entries()) {
    const at = 16 + index * 12;
    directory.writeUInt16BE(tag, at);
    directory.writeUInt16BE(type, at + 2);
    directory.writeUInt32BE(count, at + 4);
    directory.writeUInt32BE(value, at + 8);
  }
  return withSegment(await quarters().jpeg().toBuffer(), 0xe1, directory);
}

async function inJpeg(marker: number, label: string, length: number): Promise<Buffer> {
  const body = Buffer.concat([Buffer.from(label, 'latin1'), noise(length)]);
  return withSegment(await quarters().jpeg().toBuffer(), marker, body);
}

/** As some Samsung cameras write: libjpeg warns of "extraneous bytes before marker". */
async function strayBytes(): Promise<Buffer> {
  const jpeg = await quarters().jpeg().toBuffer();
  const frame = jpeg.indexOf(Buffer.from([0xff, 0xc0]));
  const stray = Buffer.from([0x10, 0x20, 0x30]);
  return Buffer.concat([jpeg.subarray(0, frame), stray, jpeg.subarray(frame)]);
}

function billionLaughs(): Buffer {
  const entities = ['<!ENTITY lol0 "lol">'];
  for (let level = 1; level < 10; level += 1) {
    entities.push(`<!ENTITY lol${level} "${`&lol${level - 1};`.repeat(10)}">`);
  }
  return svg('<text y="20">&lol9;</text>', undefined, `<!DOCTYPE svg [${entities.join('')}]>`);
}

function quadraticBlowUp(): Buffer {
  const doctype = `<!DOCTYPE svg [<!ENTITY x "${'x'.repeat(50_000)}">]>`;
  return svg(`<text y="20">${'&x;'.repeat(50_000)}</text>`, undefined, doctype);
}

function embedding(picture: Buffer, type: string): Buffer {
  const data = picture.toString('base64');
  return svg(`<image width="9" height="9" xlink:href="data:image/${type};base64,${data}"/>`);
}

/** Bytes of no meaning, the same each time. */
function noise(length: number): Buffer {
  let state = 1;
  return Buffer.from(
    Array.from({ length }, () => {
      state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fff_ffff;
      return (state >> 16) & 255;
    }),
  );
}
