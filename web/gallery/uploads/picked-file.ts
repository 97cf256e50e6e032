import { bytesInWords } from '../../shell/amounts.ts';
import type { UploadError } from './upload-error.ts';

// What can be told of a file before anybody is asked: its type, its key, and why it cannot be added.

/** What a browser's `File` has. */
export interface Picked {
  readonly name: string;
  readonly size: number;
  /** Empty where the browser knows none. */
  readonly type: string;
}

export interface Limits {
  readonly maxBytes: number;
  /** Content types, as the API takes them. */
  readonly types: readonly string[];
}

/** Browsers take a file's type from its extension, and some know none for TIFF or AVIF. */
const EXTENSIONS: Readonly<Record<string, readonly string[]>> = {
  'image/jpeg': ['jpg', 'jpeg', 'jpe', 'jfif'],
  'image/png': ['png'],
  'image/webp': ['webp'],
  'image/avif': ['avif'],
  'image/gif': ['gif'],
  'image/tiff': ['tif', 'tiff'],
  'image/svg+xml': ['svg'],
};

/** What cameras and programs write that is a picture to a person. */
const UNREADABLE: ReadonlyMap<string, string> = new Map([
  ...['heic', 'heif', 'hif'].map((ending) => [ending, 'HEIC'] as const),
  ...['arw', 'cr2', 'cr3', 'dng', 'nef', 'orf', 'raf', 'raw', 'rw2'].map(
    (ending) => [ending, 'RAW'] as const,
  ),
  ...['bmp', 'ico', 'jp2', 'jxl', 'psd'].map((ending) => [ending, ending.toUpperCase()] as const),
]);

const VIDEO = /^(mov|mp4|m4v|avi|mkv|webm|3gp|mts)$/;

/** S3's. */
const LONGEST_KEY = 1024;

function extensionOf(name: string): string {
  return /\.([^.]+)$/.exec(name)?.[1]?.toLowerCase() ?? '';
}

/** One of `types`, or undefined. */
export function contentTypeOf(file: Picked, types: readonly string[]): string | undefined {
  if (types.includes(file.type)) return file.type;
  const extension = extensionOf(file.name);
  return types.find((type) => EXTENSIONS[type]?.includes(extension));
}

/** For a file input: with the extensions too, for browsers that have no type for them. */
export function acceptOf(types: readonly string[]): string {
  return types
    .flatMap((type) => [type, ...(EXTENSIONS[type] ?? []).map((extension) => `.${extension}`)])
    .join(',');
}

/** The folder's slash, but for those that consist of slashes: the API splits keys likewise. */
export function keyOf(gallery: string, name: string): string {
  return (/^\/*$/.test(gallery) ? gallery : `${gallery}/`) + name;
}

/** `beach (2).jpg`. */
export function numbered(name: string, number: number): string {
  const dot = name.lastIndexOf('.');
  const cut = dot > 0 ? dot : name.length;
  return `${name.slice(0, cut)} (${number})${name.slice(cut)}`;
}

/** Why this file cannot be added, as far as can be told without asking; undefined if it can. */
export function refusalOf(
  file: Picked,
  gallery: string,
  { maxBytes, types }: Limits,
): UploadError | undefined {
  return (
    refusalOfType(file, types) ?? refusalOfSize(file, maxBytes) ?? refusalOfName(file.name, gallery)
  );
}

function refusalOfType(file: Picked, types: readonly string[]): UploadError | undefined {
  if (contentTypeOf(file, types) !== undefined) return undefined;
  const extension = extensionOf(file.name);
  if (file.type.startsWith('video/') || VIDEO.test(extension)) {
    return refusal('Videos cannot be added', 'Only pictures can.');
  }
  const kind = UNREADABLE.get(extension);
  if (extension === '' && file.type === '') {
    return refusal(
      'Its name does not say what it is',
      'If it is a picture, give the name an ending such as .jpg, then add it again.',
    );
  }
  if (kind === undefined && !file.type.startsWith('image/')) {
    return refusal('This is not a picture', 'Only pictures can be added.');
  }
  return refusal(
    `${kind === undefined ? 'Pictures of this kind' : `${kind} pictures`} cannot be read yet`,
    'Export it as JPEG first, then add the JPEG.',
  );
}

function refusalOfSize({ size }: Picked, maxBytes: number): UploadError | undefined {
  if (size === 0) return refusal('The file is empty', 'There is nothing in it to add.');
  if (size <= maxBytes) return undefined;
  return refusal(
    `Larger than ${bytesInWords(maxBytes)}`,
    `It has ${bytesInWords(size)}. Export a smaller version and add that.`,
  );
}

/** Form uploads cannot carry every key: browsers rewrite line breaks, S3 replaces `${filename}`. */
export function refusalOfName(name: string, gallery: string): UploadError | undefined {
  const key = keyOf(gallery, name);
  if (name === '') {
    return refusal('The file has no name', 'Give the file a name, then add it again.');
  }
  if (name.includes('/')) {
    return refusal('The name has a slash in it', 'Rename the file, then add it again.');
  }
  if (/[\r\n]/.test(key)) {
    return refusal('The name has a line break in it', 'Rename the file, then add it again.');
  }
  if (/\$\{filename\}/.test(key)) {
    return refusal(
      `The name has “\${filename}” in it, which the storage would replace`,
      'Rename the file, then add it again.',
    );
  }
  if (!key.isWellFormed()) {
    return refusal('The name has broken characters', 'Rename the file, then add it again.');
  }
  if (new TextEncoder().encode(key).length > LONGEST_KEY) {
    return refusal('The name is too long', 'Give the file a shorter name, then add it again.');
  }
  return undefined;
}

function refusal(title: string, advice: string): UploadError {
  return { title, advice, retryable: false, conflict: false };
}
