import { expect, test } from 'vitest';
import { createProgress } from '../../../cli/progress.ts';

function written(isTTY: boolean) {
  const texts: string[] = [];
  let ms = 0;
  const progress = createProgress({
    stream: { isTTY, write: (text) => texts.push(text) },
    now: () => ms,
  });
  const after = (more: number, line: string) => {
    ms += more;
    progress.show(line);
  };
  return { texts, after, progress };
}

test('a terminal shows each line in the place of the one before, and has none of it left', () => {
  const { texts, after, progress } = written(true);
  after(0, 'one');
  after(1, 'two');
  progress.end();
  expect(texts).toEqual(['\r\u001b[Kone', '\r\u001b[Ktwo', '\r\u001b[K']);
});

test('a file or a pipe gets a line every two seconds, and nothing that only a terminal knows', () => {
  const { texts, after, progress } = written(false);
  after(5000, 'the beginning');
  after(1999, 'too soon');
  after(1, 'one');
  after(1000, 'too soon');
  after(1500, 'two');
  progress.end();
  expect(texts).toEqual(['one\n', 'two\n']);
});
