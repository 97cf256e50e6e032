import { describe, expect, test } from 'vitest';
import { openCsv } from '../../../../../shared/imports/csv/read-csv.ts';
import { LIMITS, read } from '../../../../csv-files.ts';

const cellsOf = async (text: string) => (await read(text)).rows.map(({ cells }) => cells);
const messagesOf = async (text: string) =>
  (await read(text)).report?.warnings.map(({ message }) => message);

describe('rows', () => {
  test('are numbered from 1 and know their lines, past blank lines and quoted line ends', async () => {
    const { rows, report } = await read(
      'sku,text\n\n1,"two\r\nlines"\r\n \t ,\n2,"three\n\nlines"\r3,one\n\n',
    );
    expect(rows).toEqual([
      { row: 1, line: 3, cells: ['1', 'two\r\nlines'] },
      { row: 2, line: 6, cells: ['2', 'three\n\nlines'] },
      { row: 3, line: 9, cells: ['3', 'one'] },
    ]);
    expect(report).toMatchObject({ rows: 3, blankLines: 3, warningsTotal: 0 });
  });

  test.each([
    ['\n', 'LF'],
    ['\r\n', 'CR LF'],
    ['\r', 'CR'],
  ])('end in %j', async (end) => {
    const text = ['a,b', '1,2', '3,4'].join(end);
    expect(await cellsOf(text)).toEqual([
      ['1', '2'],
      ['3', '4'],
    ]);
    expect(await cellsOf(text + end)).toHaveLength(2);
  });

  test('stay text: zeros, exponents, booleans, formulas and spaces', async () => {
    expect(await cellsOf('a,b,c,d\n007,2e9, yes ,=1+1\n')).toEqual([
      ['007', '2e9', ' yes ', '=1+1'],
    ]);
  });

  test('keep NUL, U+FFFE, U+2028 and emoji as they are', async () => {
    const odd = ['nul\0within', '\uFFFEsome', 'a\u2028b\u0085c', 'tea 🫖'];
    const text = `number,what\n${odd.map((cell, index) => `${index},${cell}`).join('\n')}`;
    expect((await cellsOf(text)).map(([, cell]) => cell)).toEqual(odd);
  });

  test('of too few or too many cells are kept, and told of', async () => {
    const text = 'a,b,c\n1,2,3\n4\n5,6,7,\n8,9,10,11,12\n';
    expect(await cellsOf(text)).toEqual([
      ['1', '2', '3'],
      ['4', '', ''],
      ['5', '6', '7'],
      ['8', '9', '10'],
    ]);
    expect(await messagesOf(text)).toEqual([
      'line 3 has 1 of 3 fields',
      'line 4 has 4 of 3 fields',
      'line 5 has 5 of 3 fields: left out "11 12"',
    ]);
  });

  test('with a cell over the limit have its beginning, are kept whole for the export, and told of', async () => {
    const limits = { ...LIMITS, maxFieldCharacters: 5 };
    const { rows, report } = await read(
      'a,b,c\n1,123456,x\n2,"1""345",x\n3,👟👟👟,x\n4,"1\n""456",x\n',
      {
        limits,
      },
    );
    expect(rows).toEqual([
      { row: 1, line: 2, cells: ['1', '12345', 'x'], whole: ['1', '123456', 'x'] },
      { row: 2, line: 3, cells: ['2', '1"345', 'x'] },
      { row: 3, line: 4, cells: ['3', '👟👟', 'x'], whole: ['3', '👟👟👟', 'x'] },
      { row: 4, line: 5, cells: ['4', '1\n"45', 'x'], whole: ['4', '1\n"456', 'x'] },
    ]);
    expect(report?.warnings).toEqual(
      [2, 4, 5].map((line) => ({
        line,
        message: `line ${line} has 6 characters in "b": the model is shown some of the first 5, the export has all of it`,
      })),
    );
    const [, b] = report?.columns ?? [];
    // 6, 5, 6 and 6 of them.
    expect([b?.maxCharacters, b?.meanCharacters]).toEqual([6, 6]);
  });

  test('with a cell that is longer than what is kept say what the export lacks, and how long it is', async () => {
    const limits = { ...LIMITS, maxFieldCharacters: 5 };
    const { rows, report } = await read(`a,b\n${'x'.repeat(1200)},y\n1,2\n`, { limits });
    expect(rows).toEqual([
      { row: 1, line: 2, cells: ['xxxxx', 'y'], whole: ['x'.repeat(100), 'y'] },
      { row: 2, line: 3, cells: ['1', '2'] },
    ]);
    expect(report?.warnings.map(({ message }) => message)).toEqual([
      'line 2 has 1,200 characters in "a": the model is shown some of the first 5, the export has the first 100',
    ]);
    const [a] = report?.columns ?? [];
    expect([a?.maxCharacters, a?.meanCharacters]).toEqual([1200, 601]);
  });

  test('that are long in all are cut and told of, too', async () => {
    const limits = { ...LIMITS, maxFieldCharacters: 5 };
    const whole = ['12345', '12345', '12345', '1234', '12', '3'];
    const { rows, report } = await read(`a,b,c,d,e,f\n${whole.join()}\n`, { limits });
    const cells = ['12345', '12345', '12345', '1234', '1', ''];
    expect(rows).toEqual([{ row: 1, line: 2, cells, whole }]);
    expect(report?.warnings.map(({ message }) => message)).toEqual([
      'line 2 has 22 characters in all: the model is shown some of the first 20, the export has all of them',
    ]);
  });

  test('of too many cells, or far too many characters in all, have a problem and are told of', async () => {
    const limits = { ...LIMITS, maxColumns: 6, maxFieldCharacters: 5 };
    const far = 'x'.repeat(50);
    const { rows, report } = await read(
      `a,b,c,d,e\n1,2,3,4,5,6,7\n${far},${far},${far},1,1\n1,2,3,4,5\n`,
      { limits },
    );
    expect(rows.map(({ problem }) => problem)).toEqual([
      'the row has 7 fields: expected at most 6',
      'the row has more characters in all than expected: at most 120',
      undefined,
    ]);
    expect(rows.map(({ line }) => line)).toEqual([2, 3, 4]);
    const messages = report?.warnings.map(({ message }) => message);
    expect(messages).toContain('line 2 cannot be summarised: it has 7 fields: expected at most 6');
    expect(messages).toContain(
      'line 3 cannot be summarised: it has more characters in all than expected: at most 120',
    );
  });
});

describe('quotes', () => {
  test('are data within an unquoted cell', async () => {
    expect(await cellsOf('a,b\n1,24" screen\n2,the "best" one\n')).toEqual([
      ['1', '24" screen'],
      ['2', 'the "best" one'],
    ]);
  });

  test('that are not doubled within a quoted cell are kept and told of', async () => {
    const text = 'a,b\n1,"24" screen"\n2,x\n';
    expect(await cellsOf(text)).toEqual([
      ['1', '"24" screen"'],
      ['2', 'x'],
    ]);
    expect(await messagesOf(text)).toEqual([
      'line 2 has a quote within a quoted field that is not doubled: it was kept as it is',
    ]);
  });

  test.each([
    ['closed nowhere', 'a,b\n1,x\n2,"y\n3,z\n4,w\n'],
    ['met by the next quoted cell', 'a,b\n1,x\n2,"y\n3,"z"\n4,"w"\n'],
    ['after quoted line ends', 'a,b\n"1\n",x\n2,"y\n'],
  ])('that are unclosed refuse the file at the line they open on: %s', async (what, text) => {
    const { rows, refusal } = await read(text);
    const line = what.startsWith('after') ? 4 : 3;
    expect(refusal?.code).toBe('csv-quote');
    expect(refusal?.problems).toEqual([
      { line, message: expect.stringContaining(`line ${line} has an unclosed quote`) },
    ]);
    expect(rows).toHaveLength(1);
  });

  test('around a hundred lines are told of', async () => {
    expect(await messagesOf(`a,b\n1,"${'x\n'.repeat(101)}"\n`)).toEqual([
      'line 2 begins a row with a field of 102 lines: is a quote missing?',
    ]);
  });
});

describe('the header', () => {
  test('may have quotes behind a byte order mark, or two, and space around its names', async () => {
    for (const marks of ['\uFEFF', '\uFEFF\uFEFF']) {
      const { file } = await read(`${marks}"sku", name \n1,2\n`);
      expect(file?.header).toEqual(['sku', 'name']);
    }
  });

  test('with a name twice is refused, with both places', async () => {
    const { refusal } = await read('sku,text,text ,a,sku,sku\n1,2,3,4,5,6\n');
    expect(refusal?.code).toBe('csv-header');
    expect(refusal?.problems).toEqual([
      { line: 1, message: 'line 1 has the column name "sku" 3 times: columns 1, 5 and 6' },
      { line: 1, message: 'line 1 has the column name "text" twice: columns 2 and 3' },
    ]);
  });

  test('with a blank name gets one of its own', async () => {
    const { file, report } = await read('a,, ,column 2\n1,2,3,4\n');
    expect(file?.header).toEqual(['a', "column 2'", 'column 3', 'column 2']);
    expect(report?.warnings.map(({ message }) => message)).toEqual([
      `line 1 has no name for column 2: it is called "column 2'"`,
      'line 1 has no name for column 3: it is called "column 3"',
    ]);
  });
});

describe('refuses', () => {
  test.each([
    ['csv-empty', '', 'the file is empty'],
    ['csv-empty', '\uFEFF', 'the file is empty'],
    ['csv-empty', '\n , ,\n\n', 'only blank lines'],
    ['csv-no-rows', 'a,b,c\n', 'has a header but no rows'],
    ['csv-no-rows', 'a,b,c\n\n,,\n', 'has a header but no rows'],
  ])('%s: %j', async (code, text, message) => {
    const { refusal } = await read(text);
    expect(refusal?.code).toBe(code);
    expect(refusal?.message).toContain(message);
  });

  test.each([
    [{ maxBytes: 18 }, 'expected a file of at most 18 bytes and it has more', 0],
    [{ maxRows: 2 }, 'line 4 begins another row: expected at most 2 rows', 2],
    [{ maxColumns: 1 }, 'line 1 has 2 columns: expected at most 1', 0],
    [{ maxFieldCharacters: 3 }, 'line 1 is no header: expected names of at most 3 characters', 0],
  ])('a file beyond %j', async (limit, message, before) => {
    const { refusal, rows } = await read('name,b\n1,2\n3,4\n5,6\n', {
      limits: { ...LIMITS, ...limit },
    });
    expect(refusal).toMatchObject({ code: 'csv-too-large', blame: 'permanent', message });
    expect(rows).toHaveLength(before);
  });

  test('nothing of a file that is just within its limits', async () => {
    const limits = { maxBytes: 19, maxRows: 3, maxColumns: 2, maxFieldCharacters: 4 };
    const { refusal, rows } = await read('name,b\n1,2\n3,4\n5,6\n', { limits });
    expect(refusal).toBeUndefined();
    expect(rows).toHaveLength(3);
  });
});

describe('a header', () => {
  test.each([
    ['7,Mug,19.90', 'names columns by numbers, "7", "19.90": is it a row,'],
    ['id,2024', 'names a column by numbers, "2024": is it a row,'],
    ['id,€ 5', 'names a column by numbers, "€ 5": is it a row,'],
    ['Name,id,name', 'has column names that differ only by case: "Name", "name"'],
  ])('%s is accepted, and told of', async (header, saying) => {
    const { report, refusal } = await read(`${header}\n1,2,3\n`);
    expect(refusal).toBeUndefined();
    expect(report?.warnings[0]).toEqual({
      line: 1,
      message: expect.stringContaining(`line 1 ${saying}`),
    });
  });

  test('with numbers within names is an ordinary one', async () => {
    const { report } = await read('id,size 2,2nd,preis in €,№\n1,2,3,4,5\n');
    expect(report?.warnings).toEqual([]);
  });
});

describe('the report', () => {
  test('says what each column holds', async () => {
    const { report } = await read(`a,b\nx,\nx,${'é'.repeat(100)}\nyyyy, \nz,1\nw,2\n`);
    expect(report?.columns).toEqual([
      { name: 'a', filled: 5, meanCharacters: 2, maxCharacters: 4, samples: ['x', 'yyyy', 'z'] },
      {
        name: 'b',
        filled: 3,
        meanCharacters: 34,
        maxCharacters: 100,
        samples: ['é'.repeat(80), '1', '2'],
      },
    ]);
  });

  test('shows the beginnings of the first rows', async () => {
    const { report } = await read(`a,b\n1,${'é'.repeat(100)}\n\n${'2,x\n'.repeat(9)}`);
    expect(report?.preview).toEqual([
      { line: 2, cells: ['1', 'é'.repeat(80)] },
      ...[4, 5, 6, 7].map((line) => ({ line, cells: ['2', 'x'] })),
    ]);
  });

  test.each([
    ['rows', 'a;b\n1;2\n3;4\n5;"6\n', 2],
    ['only the header', 'a;b\n1;"2\n', 0],
    ['no rows at all', 'a;b\n', 0],
  ])('is there for a file that is refused, where %s came before', async (_, text, rows) => {
    const { report, refusal } = await read(text);
    expect(refusal).toBeDefined();
    expect(report).toMatchObject({ delimiter: ';', header: ['a', 'b'], rows });
    expect(report?.preview.map(({ cells }) => cells)).toEqual(
      [
        ['1', '2'],
        ['3', '4'],
      ].slice(0, rows),
    );
  });

  test('keeps the first hundred warnings, and counts them all', async () => {
    const { report } = await read(`a,b\n${'1\n'.repeat(250)}`);
    expect(report?.warnings).toHaveLength(100);
    expect(report?.warnings.at(-1)).toEqual({ line: 101, message: 'line 101 has 1 of 2 fields' });
    expect(report?.warningsTotal).toBe(250);
  });
});

describe('the stream', () => {
  const row = `1,${'x'.repeat(1000)}\n`;

  test('is read no further ahead than a little, however long it is', async () => {
    let given = 0;
    let taken = 0;
    let furthest = 0;
    async function* source() {
      yield Buffer.from('a,b\n');
      for (let chunk = 0; chunk < 50; chunk += 1) {
        given += row.length * 100;
        yield Buffer.from(row.repeat(100));
      }
    }
    const file = await openCsv(source(), { limits: LIMITS });
    for await (const batch of file.batches) {
      taken += batch.length * row.length;
      furthest = Math.max(furthest, given - taken);
    }
    expect(taken).toBe(row.length * 5000);
    expect(furthest).toBeLessThan(400_000);
  });

  test('is closed when the reader stops, or the file is refused', async () => {
    const closed: string[] = [];
    async function* source(name: string, text: string) {
      try {
        for (;;) yield Buffer.from(text.repeat(10_000));
      } finally {
        closed.push(name);
      }
    }
    const file = await openCsv(source('stopped', 'a,b\n'), { limits: LIMITS });
    for await (const _ of file.batches) break;
    await expect(openCsv(source('refused', 'a,a\n'), { limits: LIMITS })).rejects.toThrow('twice');
    expect(closed).toEqual(['stopped', 'refused']);
  });

  test('that breaks off is no refusal: what it threw comes through', async () => {
    async function* source() {
      yield Buffer.from('a,b\n');
      throw new Error('connection lost');
    }
    await expect(openCsv(source(), { limits: LIMITS })).rejects.toThrow('connection lost');
  });
});
