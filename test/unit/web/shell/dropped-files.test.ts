import { describe, expect, test } from 'vitest';
import {
  type DroppedEntry,
  type DroppedItem,
  droppedFiles,
} from '../../../../web/shell/dropped-files.ts';

const fileEntry = (name: string) => ({
  name,
  isDirectory: false,
  file: (resolve: (file: string) => void) => resolve(name),
});

/** Read in batches of a hundred, as Chrome does. */
function folder(name: string, entries: DroppedEntry[]) {
  return {
    name,
    isDirectory: true,
    createReader() {
      let at = 0;
      return {
        readEntries(resolve: (batch: DroppedEntry[]) => void) {
          resolve(entries.slice(at, at + 100));
          at += 100;
        },
      };
    },
  };
}

const item = (entry: DroppedEntry): DroppedItem<string> => ({
  kind: 'file',
  getAsFile: () => (entry.isDirectory ? null : entry.name),
  webkitGetAsEntry: () => entry,
});

describe('a drop', () => {
  test('has files, and all that is in folders', async () => {
    const many = Array.from({ length: 250 }, (_, index) => fileEntry(`${index}.jpg`));
    const trip = folder('trip', [...many, folder('day 1', [fileEntry('a.jpg')])]);
    const { files, leftOut } = await droppedFiles([item(fileEntry('b.jpg')), item(trip)]);
    expect(files).toEqual(['b.jpg', ...many.map(({ name }) => name), 'a.jpg']);
    expect(leftOut).toBe(false);
  });

  test('is read where browsers know no folders, and without what is dragged along as text', async () => {
    const text: DroppedItem<string> = { kind: 'string', getAsFile: () => null };
    const plain: DroppedItem<string> = { kind: 'file', getAsFile: () => 'a.jpg' };
    expect(await droppedFiles([text, plain])).toEqual({ files: ['a.jpg'], leftOut: false });
  });

  test('leaves out what systems hide in folders', async () => {
    const entries = ['.DS_Store', 'Thumbs.db', 'desktop.ini', 'a.jpg'].map(fileEntry);
    expect(
      await droppedFiles([item(folder('trip', [...entries, folder('.git', entries)]))]),
    ).toEqual({ files: ['a.jpg'], leftOut: false });
  });

  test('ends at 5,000 files', async () => {
    const endless = folder('endless', []);
    endless.createReader = () => ({
      readEntries: (resolve: (batch: DroppedEntry[]) => void) => resolve([fileEntry('a.jpg')]),
    });
    const { files, leftOut } = await droppedFiles([item(endless)]);
    expect(files).toHaveLength(5000);
    expect(leftOut).toBe(true);
  });

  test('of exactly 5,000 files is whole', async () => {
    const full = folder(
      'full',
      Array.from({ length: 5000 }, () => fileEntry('a.jpg')),
    );
    expect((await droppedFiles([item(full)])).leftOut).toBe(false);
  });

  test('ends eight folders deep, and says so', async () => {
    const nested = (depth: number): ReturnType<typeof folder> =>
      folder(`${depth}`, [fileEntry(`${depth}.jpg`), ...(depth < 10 ? [nested(depth + 1)] : [])]);
    const { files, leftOut } = await droppedFiles([item(nested(1))]);
    expect(files).toHaveLength(8);
    expect(leftOut).toBe(true);
  });

  test('goes on after a file and a folder that cannot be read', async () => {
    const broken = {
      ...fileEntry('b.jpg'),
      file: (_: unknown, reject: (e: Error) => void) => reject(new Error()),
    };
    const locked = {
      ...folder('locked', []),
      createReader: () => ({
        readEntries: (_: unknown, reject: (error: Error) => void) => reject(new Error('locked')),
      }),
    };
    const trip = folder('trip', [broken, locked, fileEntry('a.jpg')]);
    expect(await droppedFiles([item(trip)])).toEqual({ files: ['a.jpg'], leftOut: true });
  });
});
