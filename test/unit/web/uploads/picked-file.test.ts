import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { joinImage } from '../../../../shared/thumbnails/image-key.ts';
import {
  acceptOf,
  contentTypeOf,
  keyOf,
  numbered,
  refusalOf,
} from '../../../../web/gallery/uploads/picked-file.ts';

const types = [
  'image/jpeg',
  'image/png',
  'image/webp',
  'image/avif',
  'image/gif',
  'image/tiff',
  'image/svg+xml',
];
const limits = { maxBytes: 50_000_000, types };
const file = (name: string, type = '', size = 1) => ({ name, type, size });

describe('a key', () => {
  test('is joined as the API joins it', () => {
    const path = fc.array(fc.constantFrom('/', 'a', '..', 'ü', ' '), { maxLength: 6 });
    fc.assert(
      fc.property(path, fc.string(), (parts, name) => {
        const gallery = parts.join('');
        expect(keyOf(gallery, name)).toBe(joinImage({ gallery, name }));
      }),
    );
  });
});

describe('the content type', () => {
  test.each([
    ['a.jpg', 'image/jpeg', 'image/jpeg'],
    ['a.JPEG', '', 'image/jpeg'],
    ['a.jpg', 'image/pjpeg', 'image/jpeg'],
    ['a.b.tif', '', 'image/tiff'],
    ['a.avif', 'application/octet-stream', 'image/avif'],
    ['a.svg', '', 'image/svg+xml'],
    ['jpg', '', undefined],
    ['a', '', undefined],
    ['a.heic', 'image/heic', undefined],
  ])('of %s, which is "%s" to the browser, is %s', (name, type, expected) => {
    expect(contentTypeOf(file(name, type), types)).toBe(expected);
  });

  test('is one that the API takes', () => {
    expect(contentTypeOf(file('a.avif', 'image/avif'), ['image/jpeg'])).toBeUndefined();
  });

  test('is what a file input asks for, with the extensions', () => {
    expect(acceptOf(['image/png', 'image/tiff'])).toBe('image/png,.png,image/tiff,.tif,.tiff');
  });
});

describe('a refusal', () => {
  const refused = (picked: ReturnType<typeof file>, gallery = 'g') =>
    refusalOf(picked, gallery, limits)?.title;

  test.each([
    [file('a.heic', 'image/heic'), 'HEIC pictures cannot be read yet'],
    [file('a.HEIF'), 'HEIC pictures cannot be read yet'],
    [file('a.cr2', 'image/x-canon-cr2'), 'RAW pictures cannot be read yet'],
    [file('a.bmp', 'image/bmp'), 'BMP pictures cannot be read yet'],
    [file('a', 'image/x-portable-anymap'), 'Pictures of this kind cannot be read yet'],
    [file('a.mov', 'video/quicktime'), 'Videos cannot be added'],
    [file('a.mkv'), 'Videos cannot be added'],
    [file('a.pdf', 'application/pdf'), 'This is not a picture'],
    [file('a'), 'Its name does not say what it is'],
    [file('a.jpg', 'image/jpeg', 0), 'The file is empty'],
    [file('a.jpg', 'image/jpeg', 50_000_001), 'Larger than 50 MB'],
    [file('', 'image/jpeg'), 'The file has no name'],
    [file('a/b.jpg'), 'The name has a slash in it'],
    [file('a\nb.jpg'), 'The name has a line break in it'],
    [
      file(`a\${filename}.jpg`),
      `The name has “\${filename}” in it, which the storage would replace`,
    ],
    [file('a\ud800.jpg'), 'The name has broken characters'],
    [file(`${'ü'.repeat(510)}.jpg`), 'The name is too long'],
  ])('of %o says: %s', (picked, title) => {
    expect(refused(picked)).toBe(title);
  });

  test.each([
    file('a.jpg', 'image/jpeg', 50_000_000),
    file(`${'a'.repeat(1018)}.jpg`),
    file('..jpg'),
    file('$filename {filename} + % é 🏖 "\'.png'),
  ])('is not made of %o', (picked) => {
    expect(refused(picked)).toBeUndefined();
  });
});

describe('a numbered name', () => {
  test.each([
    ['a.jpg', 'a (2).jpg'],
    ['a.b.jpg', 'a.b (2).jpg'],
    ['a', 'a (2)'],
    ['.jpg', '.jpg (2)'],
  ])('of %s is %s', (name, expected) => {
    expect(numbered(name, 2)).toBe(expected);
  });
});
