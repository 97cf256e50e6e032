import { existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Makes a folder and those that it is in, one by one: Node's own way, `recursive`, never ends in a file system
 * that says of a folder to be made that it is not there, as /proc does.
 *
 * @param path absolute
 * @returns the first folder that was made, if one was
 * @throws what the file system says
 */
export function makeFolder(path: string): string | undefined {
  const lacking: string[] = [];
  for (let each = path; !existsSync(each); each = dirname(each)) lacking.unshift(each);
  // A file of the name is in the way, as mkdir says itself.
  if (lacking.length === 0 && !statSync(path).isDirectory()) mkdirSync(path);
  for (const each of lacking) mkdirSync(each);
  return lacking[0];
}
