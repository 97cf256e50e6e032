import { isAscii, isUtf8 } from 'node:buffer';
import { type Encoding, isUtf16, openingOf } from './encoding.ts';
import { assertText } from './not-text.ts';
import type { CsvRefusal } from './refused.ts';
import { cutOff, surveyUtf8 } from './utf8.ts';

/**
 * What comes of a file's bytes, in order. Warnings and the refusal concern the line that the text so
 * far has reached: what `saying` says follows the words `line 7`.
 */
export type Piece =
  | { readonly kind: 'encoding'; readonly encoding: Encoding }
  /** Never empty, and never cut within a character. */
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'warning'; readonly saying: string }
  /** Nothing follows. */
  | { readonly kind: 'refusal'; readonly code: CsvRefusal; readonly saying: string };

/** Enough to tell text from a picture, and UTF-16 by its NULs. */
const HEAD_BYTES = 65_536;
/** Text is handed on in pieces of at most so many bytes, whatever the chunks of the stream: csv-parse gains nothing by larger ones. */
const BLOCK_BYTES = 65_536;
/** How much from the first byte beyond ASCII on is weighed, to tell UTF-8 from a code page. */
const WEIGHED_BYTES = 1_048_576;

/**
 * The bytes as text, in bounded memory and the same for any chunking of the stream.
 *
 * Without a mark or a stated encoding the file is UTF-8 as far as its bytes are. ASCII is the same
 * in UTF-8 and in every code page, so that nothing is decided before the first byte beyond it; from
 * there on a mebibyte is weighed. What looks like UTF-8 then and is not later is refused, not
 * guessed at: half a catalogue of wrong characters would cost more than a second upload.
 *
 * @throws CsvRefused when the file is no text, or not in the encoding stated.
 */
export async function* decode(
  source: AsyncIterable<Uint8Array>,
  stated?: Encoding,
): AsyncGenerator<Piece> {
  const blocks = new Blocks(source);
  try {
    const head = await blocks.peek(HEAD_BYTES);
    const { encoding, markBytes } = openingOf(head, stated);
    if (!isUtf16(encoding)) assertText(head);
    blocks.skip(markBytes);
    yield { kind: 'encoding', encoding: encoding ?? 'utf-8' };
    if (isUtf16(encoding)) yield* decodeUtf16(blocks, encoding === 'utf-16be');
    else yield* decodeBytes(blocks, encoding);
  } finally {
    await blocks.close();
  }
}

async function* decodeBytes(blocks: Blocks, stated: Encoding | undefined): AsyncGenerator<Piece> {
  for (;;) {
    const ascii = await blocks.takeAscii();
    if (ascii === undefined) break;
    yield { kind: 'text', text: ascii.toString('latin1') };
  }
  const weighed = await blocks.peek(WEIGHED_BYTES);
  if (weighed.length === 0) return;
  const chosen = stated ?? weigh(weighed);
  if (stated === undefined && chosen !== 'utf-8') {
    yield { kind: 'encoding', encoding: chosen };
    yield {
      kind: 'warning',
      saying: `is not UTF-8: the file is read as ${chosen}; state its encoding if that is another`,
    };
  }
  if (chosen === 'utf-8') {
    yield* decodeUtf8(blocks, stated !== undefined);
    return;
  }
  const whole = weighed.subarray(0, weighed.length - cutOff(weighed));
  if (stated !== undefined && whole.length > 0 && isUtf8(whole)) {
    yield {
      kind: 'warning',
      saying: `reads as UTF-8, and ${stated} was stated: see its characters`,
    };
  }
  yield* decodeCodePage(blocks, chosen, isUtf8(whole) ? 'utf-8' : 'windows-1252');
}

/**
 * UTF-8 unless more bytes belong to no character than there are characters. A pair of accented
 * letters and signs in a code page is UTF-8 by accident now and then; a text's worth of them is not.
 */
function weigh(bytes: Uint8Array): 'utf-8' | 'windows-1252' {
  // The weighed part of a longer file may end within a character. The end of the file may not:
  // that is all there is to see in `Caf\xe9`.
  const cut = bytes.length < WEIGHED_BYTES ? 0 : cutOff(bytes);
  const weighed = bytes.subarray(0, bytes.length - cut);
  if (isUtf8(weighed)) return 'utf-8';
  const { characters, strays } = surveyUtf8(weighed);
  const last = cutOff(weighed) > 0 ? 1 : 0;
  return strays + last > characters ? 'windows-1252' : 'utf-8';
}

async function* decodeUtf8(blocks: Blocks, isStated: boolean): AsyncGenerator<Piece> {
  const saying = isStated
    ? 'has bytes that are not UTF-8, which the file is said to be: windows-1252 is likelier, or whatever it was saved in'
    : 'has bytes that are not UTF-8, as the text before or after is: save the file as UTF-8, or state the encoding it has';
  for await (const { bytes, isLast } of blocks.rest(cutOff)) {
    if (isUtf8(bytes)) {
      yield { kind: 'text', text: bytes.toString('utf8') };
      continue;
    }
    const whole = isLast ? bytes.length - cutOff(bytes) : bytes.length;
    const sound = bytes.subarray(0, surveyUtf8(bytes).firstStray ?? whole);
    if (sound.length > 0) yield { kind: 'text', text: sound.toString('utf8') };
    yield { kind: 'refusal', code: 'csv-encoding', saying };
    return;
  }
}

async function* decodeCodePage(
  blocks: Blocks,
  encoding: Encoding,
  likelier: Encoding,
): AsyncGenerator<Piece> {
  const decoder = new TextDecoder(encoding);
  for await (const { bytes, isLast } of blocks.rest(() => 0)) {
    const text = decoder.decode(bytes, { stream: !isLast });
    // No code page has this character: the decoder puts it where bytes mean nothing.
    const stray = text.indexOf('\uFFFD');
    const sound = stray === -1 ? text : text.slice(0, stray);
    if (sound !== '') yield { kind: 'text', text: sound };
    if (stray === -1) continue;
    const instead = likelier === encoding ? '' : `: ${likelier} is likelier`;
    const saying = `has bytes that are not ${encoding}${instead}`;
    yield { kind: 'refusal', code: 'csv-encoding', saying };
    return;
  }
}

/** By hand, for TextDecoder replaces half a surrogate pair without a word. */
async function* decodeUtf16(blocks: Blocks, isBigEndian: boolean): AsyncGenerator<Piece> {
  const cut = isBigEndian ? cutOffUtf16(0) : cutOffUtf16(1);
  for await (const { bytes, isLast } of blocks.rest(cut)) {
    const units = bytes.subarray(0, bytes.length - (bytes.length % 2));
    const text = (isBigEndian ? Buffer.from(units).swap16() : units).toString('utf16le');
    const half = text.isWellFormed() ? undefined : /\p{Surrogate}/u.exec(text)?.index;
    if (half === undefined) {
      if (text !== '') yield { kind: 'text', text };
    } else {
      if (half > 0) yield { kind: 'text', text: text.slice(0, half) };
      yield { kind: 'warning', saying: 'has half a surrogate pair, which is read as \uFFFD' };
      yield { kind: 'text', text: text.slice(half).toWellFormed() };
    }
    if (isLast && units.length < bytes.length) {
      yield {
        kind: 'refusal',
        code: 'csv-encoding',
        saying: 'ends within a character: the file is cut off',
      };
    }
  }
}

/** An odd byte at the end, and a unit that wants another one after it. */
function cutOffUtf16(high: 0 | 1): (bytes: Uint8Array) => number {
  return (bytes) => {
    const odd = bytes.length % 2;
    const last = bytes[bytes.length - odd - 2 + high] ?? 0;
    const isHighSurrogate = bytes.length - odd >= 2 && last >= 0xd8 && last <= 0xdb;
    return odd + (isHighSurrogate ? 2 : 0);
  };
}

/** A stream of bytes that can be looked into, and is handed out in blocks. */
class Blocks {
  readonly #source: AsyncIterator<Uint8Array>;
  #ahead: Buffer = Buffer.alloc(0);
  #isEnded = false;

  constructor(source: AsyncIterable<Uint8Array>) {
    this.#source = source[Symbol.asyncIterator]();
  }

  /** The next bytes, as many as asked for unless the file ends before. */
  async peek(count: number): Promise<Buffer> {
    if (this.#ahead.length < count && !this.#isEnded) {
      const chunks: Buffer[] = [this.#ahead];
      for (let length = this.#ahead.length; length < count; ) {
        const next = await this.#source.next();
        if (next.done) {
          this.#isEnded = true;
          break;
        }
        chunks.push(asBuffer(next.value));
        length += next.value.byteLength;
      }
      this.#ahead = chunks.length === 1 ? this.#ahead : Buffer.concat(chunks);
    }
    return this.#ahead.subarray(0, count);
  }

  skip(count: number): void {
    this.#ahead = this.#ahead.subarray(count);
  }

  /** The next bytes as far as they are ASCII; undefined if the very next one is not, or none is left. */
  async takeAscii(): Promise<Buffer | undefined> {
    const block = await this.peek(BLOCK_BYTES);
    const end = isAscii(block) ? block.length : block.findIndex((byte) => byte >= 0x80);
    if (end === 0) return undefined;
    this.skip(end);
    return block.subarray(0, end);
  }

  /** All that is left; `held` says how many bytes at a block's end wait for the next. */
  async *rest(
    held: (bytes: Uint8Array) => number,
  ): AsyncGenerator<{ bytes: Buffer; isLast: boolean }> {
    for (;;) {
      const block = (await this.peek(BLOCK_BYTES + 1)).subarray(0, BLOCK_BYTES);
      if (block.length === 0) return;
      const isLast = this.#isEnded && block.length === this.#ahead.length;
      const bytes = isLast ? block : block.subarray(0, block.length - held(block));
      this.skip(bytes.length);
      yield { bytes, isLast };
    }
  }

  async close(): Promise<void> {
    await this.#source.return?.();
  }
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
