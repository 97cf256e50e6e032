import {
  appendFileSync,
  existsSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { z } from 'zod';

// A notification must not be lost between the write to a bucket and the message to a queue, even if
// this process is killed there. So what is about to happen is noted before, and crossed out after;
// the next start looks into what was not crossed out.

const intentSchema = z.strictObject({
  /** Also the event's `sequencer`: hexadecimal digits that grow, over restarts too. */
  id: z.string(),
  bucket: z.string(),
  key: z.string(),
  /** Such as `ObjectCreated:Put`. */
  eventName: z.string(),
});
export type Intent = z.infer<typeof intentSchema>;

const lineSchema = z.union([
  z.strictObject({ open: intentSchema }),
  z.strictObject({ close: z.string() }),
  /** What a shortened journal keeps of the ids that it forgot: none may come again. */
  z.strictObject({ last: z.string() }),
]);

export interface Journal {
  /** What the last run left undone. */
  readonly leftOver: readonly Intent[];
  open(what: Omit<Intent, 'id'>): Intent;
  close(intent: Intent): void;
}

const COMPACT_AT = 1_000_000;

export function openJournal(path: string): Journal {
  const { intents, last } = read(path);
  let latest = last;
  // Replaced in one step, or a kill in the middle of writing would lose what it holds.
  const compact = () => {
    const lines = [...intents.values()].map((open) => JSON.stringify({ open }));
    writeFileSync(`${path}.new`, [...lines, JSON.stringify({ last: hex(latest) }), ''].join('\n'));
    renameSync(`${path}.new`, path);
  };
  compact();
  return {
    leftOver: [...intents.values()],
    open(what) {
      const now = BigInt(Date.now()) << 16n;
      latest = now > latest ? now : latest + 1n;
      const intent = { id: hex(latest), ...what };
      intents.set(intent.id, intent);
      appendFileSync(path, `${JSON.stringify({ open: intent })}\n`);
      return intent;
    },
    close(intent) {
      intents.delete(intent.id);
      try {
        appendFileSync(path, `${JSON.stringify({ close: intent.id })}\n`);
        if (statSync(path).size > COMPACT_AT) compact();
      } catch {
        // On a full disk, say: what is not crossed out is told again by the next start, as S3 may.
      }
    },
  };
}

function hex(sequence: bigint): string {
  return sequence.toString(16).toUpperCase().padStart(18, '0');
}

function read(path: string): { intents: Map<string, Intent>; last: bigint } {
  const intents = new Map<string, Intent>();
  let last = 0n;
  for (const text of existsSync(path) ? readFileSync(path, 'utf8').split('\n') : []) {
    const line = parseLine(text);
    if (line === undefined) continue;
    if ('open' in line) intents.set(line.open.id, line.open);
    if ('close' in line) intents.delete(line.close);
    const id = 'open' in line ? line.open.id : 'close' in line ? line.close : line.last;
    const sequence = BigInt(`0x${id}`);
    if (sequence > last) last = sequence;
  }
  return { intents, last };
}

/** Nothing for a line that a kill cut short: what it announced had not begun. */
function parseLine(text: string) {
  try {
    return lineSchema.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}
