import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { CorruptError, UnsupportedError } from '../../../../shared/errors.ts';
import { sniff } from '../../../../shared/thumbnails/sniff.ts';
import { mediaFile } from '../../../hostile-images.ts';
import { quarters, svg } from '../../../pictures.ts';

describe('reads the kind from the bytes', () => {
  test.each([
    ['jpeg', () => quarters().jpeg().toBuffer()],
    ['png', () => quarters().png().toBuffer()],
    ['webp', () => quarters().webp().toBuffer()],
    ['avif', () => quarters().avif({ effort: 0 }).toBuffer()],
    ['gif', () => quarters().gif().toBuffer()],
    ['tiff', () => quarters().tiff().toBuffer()],
    ['tiff', () => quarters().tiff({ bigtiff: true }).toBuffer()],
  ] as const)('of a %s', async (kind, bytes) => {
    expect(sniff(await bytes())).toBe(kind);
  });

  test.each([
    ['plain', '<svg/>'],
    ['after a byte order mark', '\uFEFF<svg/>'],
    ['after a declaration', '<?xml version="1.0"?>\n<svg/>'],
    ['after a comment that mentions HTML', '<!-- <html> -->\n<svg/>'],
    ['after a doctype', '<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "x.dtd"><svg/>'],
    ['after a doctype with entities', '<!DOCTYPE svg [<!ENTITY a "b>">\n<!ENTITY c "d">]><svg/>'],
  ])('of an SVG, %s', (_where, text) => {
    expect(sniff(Buffer.from(text))).toBe('svg');
  });

  test('of an AVIF whose major brand only says "a picture"', () => {
    expect(sniff(mediaFile('mif1', 'miaf', 'avif'))).toBe('avif');
  });
});

describe('names what it does not read', () => {
  test.each([
    ['HEIC', mediaFile('heic', 'mif1', 'heic')],
    ['HEIC', mediaFile('heix', 'mif1')],
    ['HEIC', mediaFile('hevc', 'msf1')],
    ['HEIC', mediaFile('mif1', 'mif1', 'heic')],
    ['HEIF picture of an unknown codec', mediaFile('mif1', 'mif1')],
    ['camera raw', mediaFile('crx ', 'isom')],
    ['camera raw', Buffer.from('II*\0\x10\0\0\0CR\x02\0', 'latin1')],
    ['camera raw', rawPreview()],
    ['QuickTime video', mediaFile('qt  ')],
    ['MP4 video', mediaFile('isom', 'mp42')],
    ['HTML', Buffer.from('<!DOCTYPE html><p><svg></svg>')],
    ['HTML', Buffer.from('\n<html><svg></svg></html>')],
    ['<rss>', Buffer.from('<?xml version="1.0"?><rss/>')],
    ['gzip', gzipSync(svg('<rect/>'))],
    ['ZIP', Buffer.from('PK\x03\x04')],
    ['PDF', Buffer.from('%PDF-1.7')],
    ['BMP', Buffer.from('BM\0\0')],
    ['Windows icon', Buffer.from([0, 0, 1, 0, 1, 0])],
    ['Photoshop', Buffer.from('8BPS\0\x01')],
    ['JPEG XL', Buffer.from([0xff, 0x0a, 0, 0])],
    ['JPEG XL', Buffer.from('\0\0\0\x0cJXL \r\n\x87\n', 'latin1')],
    ['JPEG 2000', Buffer.from('\0\0\0\x0cjP  \r\n\x87\n', 'latin1')],
    ['Matroska or WebM', Buffer.from([0x1a, 0x45, 0xdf, 0xa3])],
    ['RIFF file other than WebP', Buffer.from('RIFF\0\0\0\0WAVEfmt ')],
    ['text', Buffer.from('GIF, they said')],
    ['text', Buffer.from('\uFEFFsku;name\r\n1;Crêpière\r\n')],
    ['text', Buffer.from(`${'x'.repeat(511)}é`)],
    ['text in UTF-16 is not supported: an SVG must', Buffer.from('\uFEFF<svg/>', 'utf16le')],
    ['text in UTF-16 is not', Buffer.from('\uFEFF<svg/>', 'utf16le').swap16()],
    ['text in UTF-32 is not', Buffer.from([0xff, 0xfe, 0, 0, 0x3c, 0, 0, 0])],
    ['text in UTF-32 is not', Buffer.from([0, 0, 0xfe, 0xff, 0, 0, 0, 0x3c])],
    ['text in UTF-7 is not', Buffer.from('+/v8-a,b')],
    ['of no kind', Buffer.from([1, 2, 3, 4, 5, 6, 7, 8])],
  ])('%s', (name, bytes) => {
    expect(() => sniff(bytes)).toThrow(UnsupportedError);
    expect(() => sniff(bytes)).toThrow(name);
  });

  test('an SVG whose elements have a prefix, which libvips does not recognise', () => {
    const bytes = Buffer.from('<s:svg xmlns:s="http://www.w3.org/2000/svg"/>');
    expect(() => sniff(bytes)).toThrow('<s:svg>');
  });
});

test('an empty object is corrupt, for no kind of picture is empty', () => {
  expect(() => sniff(new Uint8Array())).toThrow(CorruptError);
});

test('bytes in the middle of a larger buffer are read from their own start', async () => {
  const whole = Buffer.concat([Buffer.from('xxxx'), mediaFile('heic', 'heic')]);
  expect(() => sniff(whole.subarray(4))).toThrow('HEIC');
});

/** As DNG, NEF and ARW begin: a TIFF whose first picture is a preview with sub-directories. */
function rawPreview(): Buffer {
  const bytes = Buffer.alloc(8 + 2 + 24 + 4);
  bytes.write('II*\0', 'latin1');
  bytes.writeUInt32LE(8, 4);
  bytes.writeUInt16LE(2, 8);
  for (const [index, [tag, value]] of (
    [
      [0x00fe, 1],
      [0x014a, 34],
    ] as const
  ).entries()) {
    const at = 10 + index * 12;
    bytes.writeUInt16LE(tag, at);
    bytes.writeUInt16LE(4, at + 2);
    bytes.writeUInt32LE(1, at + 4);
    bytes.writeUInt32LE(value, at + 8);
  }
  return bytes;
}
