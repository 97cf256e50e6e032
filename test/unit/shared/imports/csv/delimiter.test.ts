import { describe, expect, test } from 'vitest';
import { guessDelimiter } from '../../../../../shared/imports/csv/delimiter.ts';
import { read } from '../../../../csv-files.ts';

describe('the delimiter is guessed', () => {
  test.each([
    [',', 'a,b,c\n1,2,3\n'],
    [';', 'a;b;c\n1;2,50;3,75\n'],
    ['\t', 'a\tb\n1\tx, y; z\n2\tw\n'],
    ['|', 'a|b|c\n1|x,y|z\n'],
    [';', 'sku;name, short;price\n1;x;2\n3;y;4\n'],
    [',', 'a,b\n"1;2;3","4;5"\n"6;\n7","8"\n'],
    [',', 'a,b,"c;d;e;f"\n1,2,3\n'],
    [',', 'sku,kind|part,text,price\n1,x|y,z,2\n1,x|y,"z, w",2\n'],
    [',', 'sku,kind|part,text,price\n1,x|y,z,2\n1,x|y\n1,x|y,z,2\n1,x|y,z,2\n'],
    [',', 'title\nOne, two\nThree\n'],
    [';', 'a;b'],
    [',', ''],
  ])('%j from %j', (delimiter, text) => {
    expect(guessDelimiter(text)).toBe(delimiter);
  });
});

describe('the delimiter is said', () => {
  test.each([
    ['sep=;\n', ';'],
    ['sep=|\r\n', '|'],
    ['"sep=;"\n', ';'],
    ['SEP=\t\r', '\t'],
  ])('by the first line %j, which is a line and no header', async (line, delimiter) => {
    const { file, rows } = await read(
      `${line}${['a', 'b'].join(delimiter)}\n${['1,5', '2,5'].join(delimiter)}\n`,
    );
    expect(file).toMatchObject({ delimiter, header: ['a', 'b'] });
    expect(rows).toEqual([{ row: 1, line: 3, cells: ['1,5', '2,5'] }]);
  });

  test('by a first line that names another: refused', async () => {
    const { refusal } = await read('sep=^\na^b\n1^2\n');
    expect(refusal?.code).toBe('csv-delimiter');
    expect(refusal?.message).toBe('line 1 says sep=^: expected one of "," ";" tab "|"');
  });

  test('by the caller, over the guess and over the first line', async () => {
    const stated = await read('a,b;c\n1,2;3\n', { delimiter: ';' });
    expect(stated.file?.header).toEqual(['a,b', 'c']);
    const both = await read('sep=;\na,b\n1,2\n', { delimiter: ',' });
    expect(both.rows[0]?.cells).toEqual(['1', '2']);
    expect(both.report?.warnings).toEqual([
      { line: 1, message: 'line 1 says sep=;, and "," was stated' },
    ]);
  });

  test.each([
    ['a;b\n1;2\n', ',', '";"'],
    ['a\tb\tc\n1\t2\t3\n', ';', 'tab'],
    ['name,price\r\n"a;b",1\r\n', '|', '","'],
  ] as const)(
    'by the caller and evidently wrong in %j: told of',
    async (text, stated, likelier) => {
      const { report } = await read(text, { delimiter: stated });
      expect(report?.delimiter).toBe(stated);
      expect(report?.warnings.slice(0, 1)).toEqual([
        {
          line: 1,
          message: `line 1 has one column with ${JSON.stringify(stated)}, as stated: ${likelier} divides all lines alike, so state that if it is meant`,
        },
      ]);
    },
  );

  test.each([
    ['a;b\n1;2\n', ';'],
    ['text\none, two\nthree\n', ';'],
    ['a,b\n', ';'],
    ['text\nfour; five\n', ';'],
  ] as const)('by the caller and not evidently wrong in %j: taken', async (text, stated) => {
    const { report } = await read(text, { delimiter: stated });
    expect(report?.warnings.filter(({ message }) => /as stated/.test(message)) ?? []).toEqual([]);
  });
});
