// What was dropped: files, and folders with whatever is in them.

const MOST_FILES = 5_000;
const DEEPEST = 8;

// As far as they are needed here, what browsers hand over.

export interface DroppedItem<F> {
  readonly kind: string;
  getAsFile(): F | null;
  webkitGetAsEntry?(): DroppedEntry | null;
}

export interface DroppedEntry {
  readonly isDirectory: boolean;
  readonly name: string;
}

interface FileEntry<F> extends DroppedEntry {
  file(resolve: (file: F) => void, reject: (error: unknown) => void): void;
}

interface FolderEntry extends DroppedEntry {
  createReader(): FolderReader;
}

interface FolderReader {
  readEntries(resolve: (entries: DroppedEntry[]) => void, reject: (error: unknown) => void): void;
}

export interface Dropped<F> {
  readonly files: F[];
  /** There was more: too many files, too deep, or not readable. */
  readonly leftOut: boolean;
}

/**
 * At most 5,000 files, of folders at most eight deep. Call it in the event itself: later the items
 * are gone. Folders' hidden files and the notes that systems leave in them are no one's pictures.
 */
export async function droppedFiles<F>(items: Iterable<DroppedItem<F>>): Promise<Dropped<F>> {
  const files: F[] = [];
  const folders: { folder: FolderEntry; depth: number }[] = [];
  let leftOut = false;
  for (const item of items) {
    if (item.kind !== 'file') continue;
    const entry = item.webkitGetAsEntry?.() ?? undefined;
    if (entry !== undefined && isFolder(entry)) {
      folders.push({ folder: entry, depth: 1 });
      continue;
    }
    const file = item.getAsFile();
    if (file !== null) take(file);
  }

  for (let next = folders.shift(); next !== undefined; next = folders.shift()) {
    const { folder, depth } = next;
    try {
      for await (const entry of entriesOf(folder)) {
        if (leftOut && files.length === MOST_FILES) return { files, leftOut };
        if (entry.name.startsWith('.') || /^(thumbs\.db|desktop\.ini)$/i.test(entry.name)) continue;
        if (isFile<F>(entry)) await fileOf(entry).then(take, skip);
        else if (isFolder(entry) && depth < DEEPEST)
          folders.push({ folder: entry, depth: depth + 1 });
        else skip();
      }
    } catch {
      skip();
    }
  }
  return { files, leftOut };

  function take(file: F): void {
    if (files.length < MOST_FILES) files.push(file);
    else skip();
  }

  function skip(): void {
    leftOut = true;
  }
}

/** Browsers read a folder in batches, the last of which is empty. */
async function* entriesOf(folder: FolderEntry): AsyncGenerator<DroppedEntry> {
  const reader = folder.createReader();
  for (;;) {
    const batch = await new Promise<DroppedEntry[]>((resolve, reject) => {
      reader.readEntries(resolve, reject);
    });
    if (batch.length === 0) return;
    yield* batch;
  }
}

function fileOf<F>(entry: FileEntry<F>): Promise<F> {
  return new Promise((resolve, reject) => entry.file(resolve, reject));
}

function isFolder(entry: DroppedEntry): entry is FolderEntry {
  return entry.isDirectory;
}

function isFile<F>(entry: DroppedEntry): entry is FileEntry<F> {
  return !entry.isDirectory;
}
