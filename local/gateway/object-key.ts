import { S3Error } from './s3-error.ts';

// Toward fauxqs a key travels as two characters a byte: its router decodes paths once more than S3
// does, it sorts by the rules of human languages, and it compares by UTF-16 units. Of this alphabet
// none of that changes anything: the order is that of the bytes, as S3's is. A byte's first character
// is never another's second, so that `/` is found only where there is one.

const FIRST = 'ghijklmnopqrstuv';
const SECOND = '0123456789abcdef';
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

export function encodeKey(key: string): string {
  let encoded = '';
  for (const byte of Buffer.from(key)) {
    encoded += FIRST.charAt(byte >> 4) + SECOND.charAt(byte & 15);
  }
  return encoded;
}

export function decodeKey(encoded: string): string {
  const bytes = Buffer.alloc(encoded.length / 2);
  for (let index = 0; index < bytes.length; index++) {
    const first = FIRST.indexOf(encoded.charAt(2 * index));
    bytes[index] = (first << 4) | SECOND.indexOf(encoded.charAt(2 * index + 1));
  }
  return utf8.decode(bytes);
}

/** Decodes a path, once. S3 reads a bare `+` as a space there. */
export function decodePath(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    throw new S3Error(400, 'InvalidURI', "Couldn't parse the specified URI.");
  }
}

/** S3's limit, in bytes of UTF-8. */
const LONGEST_KEY = 1024;

export function assertKeyLength(key: string): void {
  const bytes = Buffer.byteLength(key);
  if (bytes <= LONGEST_KEY) return;
  throw new S3Error(400, 'KeyTooLongError', 'Your key is too long', {
    Size: String(bytes),
    MaxSizeAllowed: String(LONGEST_KEY),
  });
}
