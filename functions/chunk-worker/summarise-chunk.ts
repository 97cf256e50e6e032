import { randomUUID } from 'node:crypto';
import { haltImport } from '../../shared/imports/change-state.ts';
import { readChunkObject } from '../../shared/imports/chunk-objects.ts';
import {
  type Claim,
  claimChunk,
  type Known,
  releaseChunk,
  renewClaim,
  settleChunk,
} from '../../shared/imports/claim-chunk.ts';
import { closePage } from '../../shared/imports/close-page.ts';
import {
  type ChunkRow,
  MalformedChunkError,
  parseChunk,
} from '../../shared/imports/csv/chunk-lines.ts';
import {
  type ImportItem,
  isOver,
  type Page,
  sum,
  type Tallies,
} from '../../shared/imports/import-item.ts';
import { readImport, readRows } from '../../shared/imports/imports-table.ts';
import {
  chunksOf,
  type Layout,
  lengthOf,
  pageOfChunk,
  rowsOfChunk,
} from '../../shared/imports/layout.ts';
import type { RowItem } from '../../shared/imports/row-item.ts';
import { sendAgain } from '../../shared/imports/send-chunks.ts';
import { isWritten, writeRow } from '../../shared/imports/write-row.ts';
import type { ChunkWork } from '../../shared/messages/chunk-work.ts';
import { costUsd, usd } from '../../shared/summaries/estimate.ts';
import { placeOf, StopError, summariseRow, WIND_DOWN } from './summarise-row.ts';
import type { Waits, Workbench } from './workbench.ts';

/** What became of a message; all of these are acknowledged. */
export type ChunkOutcome =
  | { kind: 'settled'; completed: boolean; done: number; failed: number }
  /** Some rows are left for a message that was sent. */
  | { kind: 'handed-back'; left: number }
  /** Its import wants nothing of it now; whoever resumes it sends it again. */
  | { kind: 'unwanted'; why: 'over' | 'paused' | 'stale' | 'closed' | 'lost' | 'unknown' };

/**
 * Milliseconds between two looks at whether the chunk is still wanted. Each moves the claim on and has
 * the count so far.
 */
export const LOOK_EVERY = 2000;

/** And in the first chunk of an import: somebody may wait for its first row to appear. */
export const FIRST_LOOK_EVERY = 500;

/** Milliseconds that a claim lasts from its last renewal: how long a killed worker's rows rest. */
export const LEASE = 30_000;

/** Milliseconds without a renewal after which no further row is asked for. */
const MOST_SILENCE = 5 * LOOK_EVERY;

/** Milliseconds that another process's clock may be ahead of this one's. */
const CLOCK_SKEW = 5000;

type ReadImport = ImportItem & { layout: Layout };

/** Why no further row of a chunk is begun. */
type Halt = 'paused' | 'over' | 'stale' | 'lost' | StopError;

/**
 * Does what is left of a chunk: claims it, skips the rows that are written, and writes each row as
 * its answer comes.
 *
 * @throws what its message should come back for
 */
export async function summariseChunk(
  bench: Workbench,
  work: ChunkWork,
  deadline: number,
): Promise<ChunkOutcome> {
  const { table, queue, callTimeoutMs } = bench;
  const item = await readImport(table, work.importId);
  const unwanted = whyUnwanted(item, work);
  if (unwanted !== undefined) return unwanted;
  if (!isRead(item)) throw new Error(`Import ${work.importId} runs without having been read.`);
  if (work.chunk > chunksOf(item.layout)) return { kind: 'unwanted', why: 'unknown' };
  if (bench.now() + callTimeoutMs + WIND_DOWN > deadline) {
    await sendAgain(queue, work, 0);
    return { kind: 'handed-back', left: 0 };
  }
  const worker = randomUUID();
  const now = bench.now();
  const claim = await claimChunk(table, work, { worker, until: leaseEnd(now, deadline), now });
  if (claim.kind === 'won')
    return await new Attempt(bench, work, item, deadline, worker, now).run(claim);
  if (claim.kind === 'held') {
    // Whoever has it may die with it, so this message is not dropped; but it need not wait here.
    await sendAgain(queue, work, claim.until - bench.now() + 1000);
    return { kind: 'handed-back', left: 0 };
  }
  if (claim.kind === 'closed') await close(bench, item, pageOfChunk(work.chunk));
  return { kind: 'unwanted', why: claim.kind };
}

/** As others see it. */
const leaseEnd = (now: number, deadline: number): number =>
  Math.min(deadline, now + LEASE) + CLOCK_SKEW;

function isRead(item: ImportItem | undefined): item is ReadImport {
  return item?.layout !== undefined;
}

function whyUnwanted(item: ImportItem | undefined, { round }: ChunkWork): ChunkOutcome | undefined {
  if (item === undefined) return { kind: 'unwanted', why: 'unknown' };
  if (isOver(item.state)) return { kind: 'unwanted', why: 'over' };
  if (item.state !== 'running') return { kind: 'unwanted', why: 'paused' };
  return item.round === round ? undefined : { kind: 'unwanted', why: 'stale' };
}

/** Looks at the page, and ends the import if that was the last. */
async function close(bench: Workbench, item: ReadImport, page: number): Promise<boolean> {
  const closed = await closePage(bench.table, item, page, bench.now());
  if (closed.closing !== 'completed' || closed.item === undefined) {
    await keepToBudget(bench, item, page, closed.page);
    return false;
  }
  bench.completed(closed.item);
  return true;
}

/** What an import may cost is looked at after each chunk. */
async function keepToBudget(
  { table, prices, now }: Workbench,
  item: ReadImport,
  page: number,
  open: Page,
): Promise<void> {
  const { maxCostUsd, pages } = item;
  if (maxCostUsd === undefined) return;
  const others = Object.entries(pages).filter(([number]) => number !== String(page));
  const cost = costUsd(sum([open, ...others.map(([, sums]) => sums)]), prices);
  if (cost < maxCostUsd) return;
  const message = `The import has cost ${usd(cost)} of the ${usd(maxCostUsd)} that it may: raise its bound, then resume.`;
  await haltImport(table, item, { now: now(), failure: { code: 'budget-spent', message } });
}

/** A reason begins with its code. */
const codeOf = (reason = 'unknown'): string => reason.split(':', 1)[0] ?? reason;

/** One worker's go at one chunk, under its claim. */
class Attempt {
  readonly #bench: Workbench;
  readonly #work: ChunkWork;
  readonly #item: ReadImport;
  readonly #deadline: number;
  readonly #worker: string;
  readonly #page: number;
  readonly #rows = new Map<number, RowItem>();
  /** Whether the rows that were there are known: before, no count of them is one. */
  #isRead = false;
  /** When the last renewal that the table has taken was begun. */
  #renewedAt: number;
  #wroteAt: number | undefined;
  readonly #waits: Waits = { gateMs: 0, allowanceMs: 0, yieldMs: 0, refusedMs: 0 };
  /** Rows that are left, with how often they were refused an answer. */
  readonly #left = new Map<number, number>();
  #delayMs = 0;
  #halt: Halt | undefined;
  /** Settled once it halts: rows that rest need not rest to the end then. */
  readonly #halted: Promise<void>;
  #tellHalted = () => {};

  constructor(
    bench: Workbench,
    work: ChunkWork,
    item: ReadImport,
    deadline: number,
    worker: string,
    claimedAt: number,
  ) {
    this.#bench = bench;
    this.#work = work;
    this.#item = item;
    this.#deadline = deadline;
    this.#worker = worker;
    this.#renewedAt = claimedAt;
    this.#page = pageOfChunk(work.chunk);
    this.#halted = new Promise((resolve) => {
      this.#tellHalted = resolve;
    });
  }

  async run(claim: Extract<Claim, { kind: 'won' }>): Promise<ChunkOutcome> {
    const { table } = this.#bench;
    for (const wait of ['gateMs', 'allowanceMs', 'yieldMs', 'refusedMs'] as const) {
      this.#waits[wait] = claim.item[wait];
    }
    try {
      await this.#watched(async () => {
        const todo = await this.#read();
        // Rows that whoever had it before has written and not counted come to light only now.
        const { done, failed } = this.#tallies();
        if (done + failed > claim.item.done + claim.item.failed) this.#wroteAt = this.#bench.now();
        // All of them, also if one throws: nothing of this chunk may be in flight when its claim is gone.
        const rows = await Promise.allSettled(todo.map((row) => this.#summarise(row)));
        const thrown = rows.find(({ status }) => status === 'rejected');
        if (thrown?.status === 'rejected') throw thrown.reason;
      });
    } catch (error) {
      // The message comes back by itself; it need not wait for the claim to lapse.
      await releaseChunk(table, this.#work, this.#note()).catch(() => {});
      throw error;
    }
    return await this.#end();
  }

  /** The rows that are left. */
  async #read(): Promise<ChunkRow[]> {
    const { table, bucket } = this.#bench;
    const { importId, chunk, round } = this.#work;
    const [rows, text] = await Promise.all([
      readRows(table, importId, this.#page, rowsOfChunk(this.#item.layout, chunk)),
      readChunkObject(bucket, this.#item, chunk),
    ]);
    for (const row of rows) this.#rows.set(row.row, row);
    this.#isRead = true;
    const all = parseChunk(text);
    const expected = lengthOf(rowsOfChunk(this.#item.layout, chunk));
    if (all.length !== expected) {
      throw new MalformedChunkError(
        `expected ${expected} rows in chunk ${chunk}, got ${all.length}`,
      );
    }
    return all.filter(({ row }) => {
      const there = this.#rows.get(row);
      return there === undefined || !isWritten(there, round);
    });
  }

  async #summarise(row: ChunkRow): Promise<void> {
    const prior = this.#rows.get(row.row);
    try {
      const outcome = await summariseRow(this.#bench, {
        item: this.#item,
        chunk: this.#work.chunk,
        row,
        tries: this.#work.tries?.[row.row] ?? 0,
        deadline: this.#deadline,
        waits: this.#waits,
        goOn: () => this.#halt === undefined && this.#isOurs(),
        rest: async (ms) => {
          await Promise.race([this.#bench.sleep(ms), this.#halted]);
        },
        stop: (error) => {
          this.#halt = undefined;
          this.#haltFor(error);
        },
      });
      if (outcome.kind === 'left') {
        this.#left.set(row.row, outcome.tries);
        this.#delayMs = Math.max(this.#delayMs, outcome.delayMs);
        return;
      }
      const { importId, round } = this.#work;
      const place = { importId, page: this.#page, ttl: this.#item.ttl };
      const written = await writeRow(this.#bench.table, place, {
        ...outcome.item,
        round,
        // What an earlier round's failure cost was spent all the same.
        inputTokens: outcome.item.inputTokens + (prior?.inputTokens ?? 0),
        outputTokens: outcome.item.outputTokens + (prior?.outputTokens ?? 0),
      });
      this.#rows.set(row.row, written);
      if (written.state === 'failed') {
        const place = placeOf({ item: this.#item, chunk: this.#work.chunk, row });
        this.#bench.rowFailed(place, codeOf(written.reason));
      }
      this.#wroteAt = this.#bench.now();
    } catch (error) {
      if (!(error instanceof StopError)) {
        // The others' answers are paid for: they are written, and no further one is asked for.
        this.#haltFor('lost');
        throw error;
      }
      this.#left.set(row.row, this.#work.tries?.[row.row] ?? 0);
    }
  }

  /**
   * Whether a call that begins now should end before anybody else may have the chunk. While the table
   * takes no renewals its claim runs out, whatever this worker believes.
   */
  #isOurs(): boolean {
    const { callTimeoutMs, now } = this.#bench;
    return now() <= this.#renewedAt + Math.max(MOST_SILENCE, LEASE - callTimeoutMs);
  }

  /** Looks up now and then while the work goes on. */
  async #watched(work: () => Promise<void>): Promise<void> {
    let ended = false;
    let wake = () => {};
    const over = new Promise<void>((resolve) => {
      wake = resolve;
    });
    const every = this.#work.chunk === 1 ? FIRST_LOOK_EVERY : LOOK_EVERY;
    const looking = (async () => {
      while (!ended) {
        await Promise.race([this.#bench.sleep(every), over]);
        if (!ended) await this.#look();
      }
    })();
    try {
      await work();
    } finally {
      ended = true;
      wake();
      await looking;
    }
  }

  async #look(): Promise<void> {
    // Also while nobody is answered: what rows wait for is told in time.
    void this.#bench.meter.writeWhole();
    const [, read] = await Promise.allSettled([
      this.#renew(),
      readImport(this.#bench.table, this.#work.importId),
    ]);
    // One that fails says nothing of the rows.
    if (read.status === 'rejected') return;
    const unwanted = whyUnwanted(read.value, this.#work);
    if (unwanted?.kind === 'unwanted') {
      this.#haltFor(unwanted.why === 'paused' || unwanted.why === 'stale' ? unwanted.why : 'over');
    }
  }

  async #renew(): Promise<void> {
    const note = this.#note();
    const until = leaseEnd(note.now, this.#deadline);
    const { kept } = await renewClaim(this.#bench.table, this.#work, { ...note, until });
    if (kept) this.#renewedAt = note.now;
    else this.#haltFor('lost');
  }

  /** The first reason stays. */
  #haltFor(halt: Halt): void {
    this.#halt ??= halt;
    this.#tellHalted();
  }

  async #end(): Promise<ChunkOutcome> {
    const { table, queue } = this.#bench;
    if (this.#left.size > 0) {
      const halt = this.#halt;
      if (halt === 'lost') return { kind: 'unwanted', why: 'lost' };
      const note = this.#note();
      // Nobody misses it before it comes back.
      const now = note.now + this.#delayMs;
      const { kept } = await releaseChunk(table, this.#work, { ...note, now });
      if (halt instanceof StopError) {
        const failure = { code: halt.code, message: halt.message };
        await haltImport(table, this.#item, { now: this.#bench.now(), failure });
      }
      if (halt !== undefined) {
        if (kept && halt !== 'over') await this.#sendIfWanted();
        return { kind: 'unwanted', why: halt instanceof StopError ? 'paused' : halt };
      }
      // It has a message of its own with whoever has it now.
      if (!kept) return { kind: 'unwanted', why: 'lost' };
      await sendAgain(queue, { ...this.#work, ...this.#triesLeft() }, this.#delayMs);
      return { kind: 'handed-back', left: this.#left.size };
    }
    const tallies = this.#tallies();
    const { kept } = await settleChunk(table, this.#work, { ...this.#note(), tallies });
    if (!kept) return { kind: 'unwanted', why: 'lost' };
    const completed = await close(this.#bench, this.#item, this.#page);
    const { done, failed } = tallies;
    return { kind: 'settled', completed, done, failed };
  }

  /**
   * Somebody may have resumed, or begun another round, while the last calls were on their way. The
   * message that they sent then has found the chunk claimed and rests for as long as that claim might
   * have lasted; nobody is to wait for that. Read after the claim is gone:
   *
   *   worker     claim ─── look: paused ·· last calls ·· release ── read: running ── sent
   *   person                     pause      resume
   *   its message                             claim ✗ (held) ── back in 36 s
   *
   * Whoever resumes after that read finds the chunk free.
   */
  async #sendIfWanted(): Promise<void> {
    const { importId, chunk } = this.#work;
    const item = await readImport(this.#bench.table, importId);
    if (item?.state !== 'running') return;
    await sendAgain(this.#bench.queue, { importId, chunk, round: item.round }, 0);
  }

  #triesLeft(): { tries?: Record<string, number> } {
    const tries = [...this.#left].filter(([, count]) => count > 0);
    if (tries.length === 0) return {};
    return { tries: Object.fromEntries(tries.map(([row, count]) => [String(row), count])) };
  }

  #note(): { worker: string; now: number } & Known {
    const note = {
      worker: this.#worker,
      now: this.#bench.now(),
      ...(this.#wroteAt === undefined ? {} : { wroteAt: this.#wroteAt }),
    };
    return this.#isRead ? { ...note, tallies: this.#tallies() } : note;
  }

  /** Of what the table holds, by its own answers: two workers on one chunk count the same. */
  #tallies(): Tallies {
    const rows = [...this.#rows.values()];
    const total = (of: (row: RowItem) => number) => rows.reduce((all, row) => all + of(row), 0);
    return {
      done: total(({ state }) => (state === 'done' ? 1 : 0)),
      failed: total(({ state, round }) =>
        state === 'failed' && round >= this.#work.round ? 1 : 0,
      ),
      inputTokens: total(({ inputTokens }) => inputTokens),
      outputTokens: total(({ outputTokens }) => outputTokens),
      gateMs: Math.round(this.#waits.gateMs),
      allowanceMs: Math.round(this.#waits.allowanceMs),
      yieldMs: Math.round(this.#waits.yieldMs),
      refusedMs: Math.round(this.#waits.refusedMs),
    };
  }
}
