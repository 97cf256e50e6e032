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
});
