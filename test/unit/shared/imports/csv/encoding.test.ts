import { deflateRawSync, gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { openingOf } from '../../../../../shared/imports/csv/encoding.ts';
import { encode, read, repertoire } from '../../../../csv-files.ts';

const TEXT = 'sku;name;price\r\n1;Crêpière – „groß“;10 €\r\n2;Tapis d’été;5 €\r\n';
const NAMES = ['Crêpière – „groß“', 'Tapis d’été'];

const namesOf = (rows: { cells: string[] }[]) => rows.map(({ cells }) => cells[1]);

describe('is found out', () => {
  test.each([
    ['utf-8', 'utf-8', TEXT],
    ['utf-8', 'utf-8', `\uFEFF${TEXT}`],
    ['utf-16le', 'utf-16le', `\uFEFF${TEXT}`],
    ['utf-16be', 'utf-16be', `\uFEFF${TEXT}`],
    ['utf-16le', 'utf-16le', TEXT],
    ['utf-16be', 'utf-16be', TEXT],
    ['windows-1252', 'windows-1252', TEXT],
  ] as const)('%s', async (expected, encoding, text) => {
    const { rows, report } = await read(encode(text, encoding), { sizes: [1, 2, 3] });
    expect(report?.encoding).toBe(expected);
    expect(namesOf(rows)).toEqual(NAMES);
    expect(report?.warningsTotal).toBe(expected === 'windows-1252' ? 1 : 0);
  });

  test('gb18030 by its mark', async () => {
    const bytes = [0x84, 0x31, 0x95, 0x33, ...Buffer.from('a,b\n1,'), 0xd6, 0xd0, 0x0a];
    const { rows, file, report } = await read(Buffer.from(bytes));
    expect(file?.header).toEqual(['a', 'b']);
    expect(namesOf(rows)).toEqual(['中']);
    expect(report).toMatchObject({ encoding: 'gb18030', warningsTotal: 0 });
  });

  test('where a code page begins late in the file, with a warning that says where', async () => {
    const lines = Array.from({ length: 2000 }, (_, index) => `${index},${'plain '.repeat(20)}`);
    const bytes = encode(`n,text\n${lines.join('\n')}\nlast,café\n`, 'windows-1252');
    const { file, rows, report } = await read(bytes);
    expect(file?.encoding).toBe('utf-8');
    expect(report?.encoding).toBe('windows-1252');
    expect(report?.warnings).toEqual([
      { line: 2002, message: expect.stringMatching(/^line 2002 is not UTF-8.*windows-1252/) },
    ]);
    expect(rows.at(-1)?.cells).toEqual(['last', 'café']);
  });

  test('also where the only letter beyond ASCII is the last byte', async () => {
    const { rows } = await read(Buffer.from('a,b\n1,caf\xe9', 'latin1'));
    expect(rows[0]?.cells[1]).toBe('café');
  });

  test('and a mixture is refused, with the line where it shows', async () => {
    const first = 'a,b\n1,Größe\n2,naïve\n';
    for (const filler of ['', `3,${'x'.repeat(500)}\n`.repeat(3000)]) {
      const bytes = Buffer.concat([
        Buffer.from(first + filler),
        encode('4,café\n', 'windows-1252'),
      ]);
      const { refusal } = await read(bytes);
      const line = filler === '' ? 4 : 3004;
      expect(refusal?.code).toBe('csv-encoding');
      expect(refusal?.problems[0]).toEqual({
        line,
        message: expect.stringMatching(
          new RegExp(`^line ${line} has bytes that are not UTF-8.*encoding`),
        ),
      });
    }
  });

  test('half a surrogate pair is read as U+FFFD, and told of', async () => {
    const { rows, report } = await read(encode('\uFEFFa,b\n1,x\ud83dy\n2,\udc5f\n', 'utf-16le'));
    expect(namesOf(rows)).toEqual(['x\uFFFDy', '\uFFFD']);
    expect(report?.warnings[0]).toMatchObject({ line: 2 });
  });

  test('a UTF-16 file that ends within a character is refused', async () => {
    const { refusal } = await read(encode('\uFEFFa,b\n1,x\n', 'utf-16le').subarray(0, -1));
    expect(refusal?.message).toContain('ends within a character');
  });
});

describe('UTF-16 without a mark', () => {
  const shown = (bytes: Buffer) => openingOf(bytes).encoding;
  const of = (letters: string) => fc.string({ unit: fc.constantFrom(...letters), minLength: 1 });

  test.each([
    ['ASCII', 'abcdefghijklmnopqrstuvwxyz 0123456789'],
    ['Latin', 'aäeéoößçñ 0'],
    ['Cyrillic', 'абвгдежзиклмнопрстуфхцчшщыьэюя'],
    ['Greek', 'αβγδεζηθικλμνξοπρστυφχψω'],
    ['Arabic', 'ابتثجحخدذرزسشصضطظعغفقكلمنهوي'],
    ['Hindi', 'अआइईउऊएऐओऔकखगघचछजझटठडढतथदधनपफबभमयरलवशषसहािीुूेैोौ्'],
    ['Malayalam', 'അആഇഈഉഎഏഒകഗങചജഞടഡണതദനപബമയരറലളഴവശഷസഹ'],
    ['Thai', 'กขคงจชซญดตถทธนบปผพฟภมยรลวสหอ'],
    ['hiragana', 'あいうえおかきくけこさしすせそたちつてとなにぬねのはひふへほ'],
    ['Japanese', 'のをにはがで、。　日本語一番黒い大きな時計ケース付き'],
    ['Korean', '가나다라마바사아자차카타파하한국어제품설명'],
    ['Chinese', '的一是不了人我在有他这中大来上国个到说们为子和你地出道也时年'],
    ['emoji', '👟🫖💡'],
  ])('is found out, in either order of bytes: %s', (_, letters) => {
    // As a catalogue has them: with numbers, and lines.
    const row = fc.tuple(fc.nat(99_999), of(letters), fc.nat(999));
    fc.assert(
      fc.property(
        fc.array(row, { minLength: 3, maxLength: 12 }),
        fc.constantFrom('\n', '\r\n'),
        fc.constantFrom(',', ';', '\t'),
        (rows, end, delimiter) => {
          const lines = [['id', letters.slice(0, 4), 'price'], ...rows];
          const text = lines.map((cells) => cells.join(delimiter) + end).join('');
          expect(shown(encode(text, 'utf-16le'))).toBe('utf-16le');
          expect(shown(encode(text, 'utf-16be'))).toBe('utf-16be');
        },
      ),
      { numRuns: 50 },
    );
  });

  test.each([
    'a\n',
    'id\n1\n',
    'a,b\n1,2\n',
    'n;v\r\n1;é\r\n',
    'id,名\n1,大本\n',
    'id,名\n1,　　\n',
    '1,가\n2,가\n',
  ])('is found out where there is hardly anything: %j', (text) => {
    expect(shown(encode(text, 'utf-16le'))).toBe('utf-16le');
    expect(shown(encode(text, 'utf-16be'))).toBe('utf-16be');
  });

  test.each([
    'id,name\n1,a\0b\0\n\0,\0\n',
    'id,name\n1,ab\n\0,c\0\n',
    'ids,name\n\0,a\n',
    'id,näme\n1,ä\0b\0\n\0,\0\n',
    'код,имя\n1,б\0г\0\n\0,\0\n',
  ])('is not what NULs make of other text: %j', async (text) => {
    for (const bytes of [Buffer.from(text), Buffer.from(` ${text}`)]) {
      const { rows, report, refusal } = await read(bytes);
      expect(refusal).toBeUndefined();
      expect(report?.encoding).toBe('utf-8');
      expect(rows.map(({ cells }) => cells)).toEqual(
        text
          .trimEnd()
          .split('\n')
          .slice(1)
          .map((line) => line.split(',')),
      );
    }
  });

  test('is not what NULs make of a code page', () => {
    const cyrillic = new Map(repertoire('windows-1251').map((letter, byte) => [letter, byte]));
    const text = 'код,имя\n1,б\0в\0\n\0,\0синяя лампа\n';
    const bytes = Buffer.from(Array.from(text, (letter) => cyrillic.get(letter) ?? 0));
    expect(shown(bytes)).toBeUndefined();
    expect(shown(Buffer.from(' caf\xe9,gr\xfcn\n1,a\0b\0\n\0,\0\n', 'latin1'))).toBeUndefined();
  });

  test('is never what NULs make of plain text, up to where that is told for binary data', () => {
    const part = fc.constantFrom(
      'a',
      'b',
      '1',
      ' ',
      ',',
      'ab',
      'c,1',
      '\n',
      '\0',
      '\0\n',
      '\n\0',
      '\0b',
    );
    fc.assert(
      fc.property(fc.array(part, { maxLength: 60 }), fc.boolean(), (parts, shifted) => {
        const bytes = Buffer.from(`${shifted ? ' ' : ''}id,name and what it is\n${parts.join('')}`);
        fc.pre(bytes.filter((byte) => byte === 0).length * 4 < bytes.length);
        expect(shown(bytes)).toBeUndefined();
      }),
      { numRuns: 1000 },
    );
  });
});

describe('is stated', () => {
  test.each([
    ['windows-1251', 'Лампа'],
    ['windows-1250', 'Łódź'],
    ['windows-1254', 'şişe'],
    ['iso-8859-15', 'prix 5 €'],
    ['macintosh', 'café'],
    ['utf-16be', '台灯'],
  ] as const)('%s', async (encoding, name) => {
    const { rows, report } = await read(encode(`a,b\n1,${name}\n`, encoding), { encoding });
    expect(namesOf(rows)).toEqual([name]);
    expect(report).toMatchObject({ encoding, warningsTotal: 0 });
  });

  test('shift_jis, whose characters may end in a quote or a delimiter', async () => {
    const { rows } = await read(Buffer.from([...Buffer.from('a|b\n1|'), 0x83, 0x7c, 0x0a]), {
      encoding: 'shift_jis',
    });
    expect(namesOf(rows)).toEqual(['ポ']);
  });

  test.each([
    [
      'utf-8',
      encode('a,b\n1,x\n2,café\n', 'windows-1252'),
      'line 3 has bytes that are not UTF-8, which the file is said to be: windows-1252 is likelier',
    ],
    [
      'big5',
      Buffer.from('a,b\n1,no—yes\n'),
      'line 2 has bytes that are not big5: utf-8 is likelier',
    ],
    [
      'shift_jis',
      Buffer.from('a,b\n1,\xa0\n', 'latin1'),
      'line 2 has bytes that are not shift_jis: windows-1252 is likelier',
    ],
    ['utf-8', encode(`\uFEFF${TEXT}`, 'utf-16le'), 'is marked as utf-16le'],
    ['windows-1252', Buffer.from(`\uFEFF${TEXT}`), 'is marked as utf-8'],
    ['windows-1252', encode(TEXT, 'utf-16le'), 'looks like utf-16le'],
    ['utf-16le', encode(TEXT, 'utf-16be'), 'looks like utf-16be'],
    ['utf-16le', Buffer.from(TEXT), 'is utf-8'],
    ['utf-16be', encode(TEXT, 'windows-1252'), 'of a code page, windows-1252 before others'],
  ] as const)(
    'as %s and contradicted by the bytes: refused (%#)',
    async (encoding, bytes, says) => {
      const { refusal } = await read(bytes, { encoding });
      expect(refusal?.code).toBe('csv-encoding');
      expect(refusal?.message).toContain(says);
    },
  );

  test('as a code page where the bytes are UTF-8: told of', async () => {
    const { report } = await read(TEXT, { encoding: 'windows-1252' });
    expect(report?.warnings[0]).toMatchObject({
      line: 2,
      message: expect.stringContaining('reads as UTF-8'),
    });
  });
});

describe('a character is whole wherever the stream is cut', () => {
  // Long enough for every place within a character to come at the end of a block, and for UTF-8 to
  // be weighed by a part of the file.
  const sentence = '台灯 👟 é Ж ';

  test.each([
    ['utf-8', undefined],
    ['utf-8', 'utf-8'],
    ['utf-16le', 'utf-16le'],
    ['utf-16be', undefined],
  ] as const)('of %s (stated: %s)', async (encoding, stated) => {
    for (let shift = 0; shift < 4; shift += 1) {
      const text = sentence.repeat(500 + shift);
      const file = encode(`a,b\n${'x'.repeat(shift)},y\n${`1,${text}\n`.repeat(130)}`, encoding);
      const { rows, report } = await read(file, {
        sizes: [30_001],
        ...(stated === undefined ? {} : { encoding: stated }),
      });
      expect(file.length).toBeGreaterThan(1_048_576);
      expect(report?.encoding).toBe(encoding);
      expect(rows).toHaveLength(131);
      expect(
        namesOf(rows)
          .slice(1)
          .every((name) => name === text),
      ).toBe(true);
    }
  });

  test.each([
    ['shift_jis', 0x83],
    ['utf-8', 0xc3],
  ] as const)(
    'and %s that ends within one, just at the end of a block, is refused',
    async (encoding, lead) => {
      const start = encode('a,b\n1,ж,2\n', 'utf-8');
      const japanese = Buffer.from([...Buffer.from('a,b\n1,'), 0x83, 0x7c, 0x0a]);
      const bytes = Buffer.alloc(1_200_000, `1,${'some text '.repeat(50)}\n`);
      (encoding === 'utf-8' ? start : japanese).copy(bytes);
      // Blocks are counted from the first byte beyond ASCII on.
      const end = bytes.findIndex((byte) => byte >= 0x80) + 17 * 65_536;
      bytes[end - 1] = lead;
      const { refusal } = await read(bytes.subarray(0, end), { encoding });
      expect(refusal?.code).toBe('csv-encoding');
    },
  );
});

describe('what is no table in text is refused by its name', () => {
  const zip = (name: string) => Buffer.from(`PK\x03\x04${'\0'.repeat(26)}${name}`, 'latin1');

  test.each([
    ['an Excel workbook: save it as CSV', zip('[Content_Types].xml')],
    ['an Excel workbook: save it as CSV', zip('xl/workbook.xml')],
    ['a LibreOffice spreadsheet', zip('mimetypeapplication/vnd.oasis.opendocument.spreadsheet')],
    ['a Word document', zip('word/document.xml')],
    ['a Numbers spreadsheet', zip('Index/Document.iwa')],
    ['a ZIP archive', zip('products.csv')],
    ['an Excel workbook of the old kind', Buffer.from([0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1])],
    ['a PDF', Buffer.from('%PDF-1.7\n')],
    ['a gzip archive', gzipSync('a,b\n1,2\n')],
    ['a JPEG picture', Buffer.from([0xff, 0xd8, 0xff, 0xe0, 0, 16])],
    ['a web page', Buffer.from('\n<!DOCTYPE html><title>Sign in</title>')],
    ['XML', Buffer.from('<?xml version="1.0"?><rows/>')],
    ['JSON', Buffer.from('[{"sku": 1}]')],
    ['binary data', deflateRawSync(Buffer.from(Array.from({ length: 9999 }, (_, n) => n * n)))],
    ['binary data', Buffer.alloc(5000)],
  ])('%s (%#)', async (name, bytes) => {
    const { refusal } = await read(bytes, { sizes: [3] });
    expect(refusal?.code).toBe('csv-not-text');
    expect(refusal?.message).toContain(name);
  });

  const utf32 = (text: string) =>
    Buffer.concat(
      [...text].map((letter) => {
        const bytes = Buffer.alloc(4);
        bytes.writeUInt32LE(letter.codePointAt(0) ?? 0);
        return bytes;
      }),
    );
  const marked = (mark: readonly number[]) => Buffer.from([...mark, ...Buffer.from('a,b\n1,2\n')]);

  test.each([
    ['is marked as UTF-32', utf32(`\uFEFF${TEXT}`)],
    ['is marked as UTF-32', utf32(`\uFEFF${TEXT}`).swap32()],
    ['looks like UTF-32', utf32(TEXT)],
    ['looks like UTF-32', utf32(TEXT).swap32()],
    ['looks like UTF-32', utf32('a,b\n1,👟\n')],
    ['is marked as UTF-7', Buffer.from('+/v8-a,b\n1,caf+AOk-\n')],
    ['is marked as UTF-7', Buffer.from('+/v9AOk,b\n1,2\n')],
    ['is marked as UTF-1', marked([0xf7, 0x64, 0x4c])],
    ['is marked as UTF-EBCDIC', marked([0xdd, 0x73, 0x66, 0x73])],
    ['is marked as SCSU', marked([0x0e, 0xfe, 0xff])],
    ['is marked as BOCU-1', marked([0xfb, 0xee, 0x28])],
  ])('text, too, that %s: it is to be saved as UTF-8 (%#)', async (name, bytes) => {
    for (const options of [{}, { encoding: 'utf-8' }, { encoding: 'windows-1252' }] as const) {
      const { refusal } = await read(bytes, { sizes: [3], ...options });
      expect(refusal?.code).toBe('csv-encoding');
      expect(refusal?.message).toMatch(new RegExp(`${name}: save it as UTF-8$`));
    }
  });

  test('and neither is a plus in a header nor a NUL in a cell a mark', async () => {
    const { rows } = await read('+/v,b\n1,x\0\0\0\n');
    expect(rows).toHaveLength(1);
  });
});
