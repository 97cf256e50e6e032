import { setImmediate, setTimeout as sleepFor } from 'node:timers/promises';
import { PutObjectCommand } from '@aws-sdk/client-s3';
import {
  GetQueueAttributesCommand,
  type SendMessageBatchCommand,
  SendMessageCommand,
  type SQSClient,
} from '@aws-sdk/client-sqs';
import { expect } from 'vitest';
import { createGate } from '../../../functions/chunk-worker/gate.ts';
import {
  type ChunkOutcome,
  FIRST_LOOK_EVERY,
  LOOK_EVERY,
  summariseChunk,
} from '../../../functions/chunk-worker/summarise-chunk.ts';
import type { Workbench } from '../../../functions/chunk-worker/workbench.ts';
import type { Desk } from '../../../functions/import-intake/desk.ts';
import { type ReadOutcome, readSource } from '../../../functions/import-intake/read-source.ts';
import { sendAll } from '../../../functions/import-intake/send-all.ts';
import {
  type Finding,
  type Reaper,
  reapImport,
} from '../../../functions/import-reaper/reap-import.ts';
import type { Allowance } from '../../../shared/fleet/allowance.ts';
import type { ChunkItem } from '../../../shared/imports/chunk-item.ts';
import { createImport } from '../../../shared/imports/create-import.ts';
import { type ImportItem, isOver } from '../../../shared/imports/import-item.ts';
import { sourceKey } from '../../../shared/imports/import-objects.ts';
import {
  type ImportsTable,
  readChunks,
  readImport,
  readRows,
} from '../../../shared/imports/imports-table.ts';
import { chunksOf, pageOfChunk, rowsOfChunk } from '../../../shared/imports/layout.ts';
import { readProgress } from '../../../shared/imports/read-progress.ts';
import type { RowItem } from '../../../shared/imports/row-item.ts';
import type { Queue } from '../../../shared/imports/send-chunks.ts';
import { isWritten } from '../../../shared/imports/write-row.ts';
import { type ChunkWork, parseChunkWork } from '../../../shared/messages/chunk-work.ts';
import { parseJobs } from '../../../shared/messages/import-job.ts';
import type { Answer, Provider, SummaryRequest } from '../../../shared/summaries/provider.ts';
import { type Engines, IMPORTS, type Process } from '../engines.ts';

// One import on real engines: time, faults and the provider are the test's, and so is the queue, as
// redelivery in any order and as often as it likes is what a test is about.

export const INVOCATION = 120_000;
export const CALL_TIMEOUT = 30_000;

/** What a call of a row is answered with; by default a summary. */
export type Replies = (row: number, paid: number) => Answer | Promise<Answer>;

export const answer = (finish: Answer['finish'], text: string): Answer => ({
  finish,
  text,
  usage: { inputTokens: 10, outputTokens: 5 },
  model: 'fake',
  limits: {},
});

/** A thousandth of the time; without looks in between, whose number would be chance. */
const briefly = (ms: number) => (isLook(ms) ? new Promise(() => {}) : sleepFor(ms / 1000));

/** Whether a worker waits for its next look. */
export const isLook = (ms: number): boolean => ms === LOOK_EVERY || ms === FIRST_LOOK_EVERY;

const summaryOf: Replies = (row) => answer('done', `summary of ${row}`);

/** One that a test lets go. */
export function latch(): { opened: Promise<void>; open: () => void } {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

export async function until(condition: () => boolean): Promise<void> {
  for (let tries = 0; !condition(); tries++) {
    if (tries > 2000) expect.fail('it does not happen');
    await sleepFor(1);
  }
  await setImmediate();
}

let scenes = 0;

const NO_METER: Workbench['meter'] = {
  answered: () => {},
  erred: () => {},
  waited: () => {},
  writeWhole: async () => {},
  writeAll: async () => {},
};

export class Scene {
  readonly engines: Engines;
  readonly importId: string;
  readonly chunkRows: number;
  readonly table: string;
  readonly clock = { now: 1_700_000_000_000 };
  /** The truth about what was paid: every call that began, by row. */
  readonly ledger: { row: number; process: Process }[] = [];
  /** Messages on the chunk queue; a delay is over when its clock has passed. */
  readonly chunks: { work: ChunkWork; at: number }[] = [];
  readonly jobs: string[] = [];
  /** How often somebody was told of a completion. */
  completions = 0;
  replies: Replies = summaryOf;
  /** Chunks that the queue does not take, in an answer of 200. */
  untaken: (chunk: number) => boolean = () => false;
  etag = '';

  constructor(engines: Engines, table: string, chunkRows: number) {
    scenes += 1;
    this.engines = engines;
    this.table = table;
    this.chunkRows = chunkRows;
    this.importId = `scene${scenes}`;
  }

  /** Writes the import, and its file with so many rows. */
  async begin(rows: number, change: Partial<ImportItem> = {}): Promise<this> {
    const { now } = this.clock;
    await createImport(this.#tableOf(this.engines), {
      importId: this.importId,
      name: 'products.csv',
      mode: 'bulk',
      state: 'awaiting-upload',
      hold: false,
      round: 0,
      instructions: 'Summarise.',
      columns: [],
      reads: 0,
      pages: {},
      createdAt: now,
      uploadBy: now + 3_600_000,
      updatedAt: now,
      ttl: Math.floor(now / 1000) + 86_400,
      ...change,
    });
    const lines = Array.from({ length: rows }, (_, index) => `r${index + 1},"Name, ${index + 1}"`);
    return await this.upload(`id,name\n${lines.join('\n')}\n`);
  }

  /** Puts a file in the place of the one that is there. */
  async upload(file: string | Uint8Array): Promise<this> {
    const put = await this.engines.s3.send(
      new PutObjectCommand({ Bucket: IMPORTS, Key: sourceKey(this.importId), Body: file }),
    );
    this.etag = put.ETag?.replaceAll('"', '') ?? '';
    return this;
  }

  /** The import's table, for what people and tests do with it. */
  get items(): ImportsTable {
    return this.#tableOf(this.engines);
  }

  /** The next message, which is gone from the queue then. */
  take(): ChunkWork {
    return this.chunks.shift()?.work ?? expect.fail('there is no message');
  }

  /** Rows and their file are read; nobody has begun. */
  async ready(rows: number, change: Partial<ImportItem> = {}): Promise<this> {
    await this.begin(rows, change);
    await this.read(this.engines.newProcess());
    return this;
  }

  /** What the table holds of a chunk. */
  async chunk(chunk: number): Promise<ChunkItem | undefined> {
    const there = await readChunks(this.items, this.importId, pageOfChunk(chunk));
    return there.find((item) => item.chunk === chunk);
  }

  #tableOf({ dynamo }: { dynamo: Engines['dynamo'] }) {
    return { client: dynamo, name: this.table };
  }

  #queueOf(process: Process, url: 'chunks' | 'jobs'): Queue {
    const take = (body = '', delaySeconds = 0) => {
      if (url === 'jobs') this.jobs.push(body);
      else
        this.chunks.push({ work: parseChunkWork(body), at: this.clock.now + delaySeconds * 1000 });
    };
    const send = async (
      command: SendMessageCommand | SendMessageBatchCommand | GetQueueAttributesCommand,
    ) => {
      return await process.note(command.constructor.name.replace('Command', ''), async () => {
        if (command instanceof GetQueueAttributesCommand) {
          const waiting = this.chunks.filter(({ at }) => at <= this.clock.now).length;
          return { Attributes: { ApproximateNumberOfMessages: String(waiting) } };
        }
        if (command instanceof SendMessageCommand) {
          take(command.input.MessageBody, command.input.DelaySeconds);
          return {};
        }
        const entries = command.input.Entries ?? [];
        const fails = entries.filter(({ MessageBody: body = '' }) =>
          this.untaken(parseChunkWork(body).chunk),
        );
        for (const entry of entries) if (!fails.includes(entry)) take(entry.MessageBody);
        return { Failed: fails.map(({ Id }) => ({ Id, Code: 'InternalError' })) };
      });
    };
    return { client: { send } as unknown as SQSClient, url };
  }

  deskOf(process: Process): Desk {
    const chunks = this.#queueOf(process, 'chunks');
    return {
      table: this.#tableOf(process),
      bucket: { client: process.s3, name: IMPORTS },
      queues: { interactive: chunks, bulk: chunks },
      limits: { maxBytes: 1e9, maxRows: 1e6, maxColumns: 100, maxFieldCharacters: 10_000 },
      chunkRows: this.chunkRows,
      prompt: { inputCharacters: 1000, outputTokens: 100 },
      prices: { inputUsdPerMillion: 1, outputUsdPerMillion: 2 },
      now: () => this.clock.now,
    };
  }

  benchOf(
    process: Process,
    { gate = 4, sleep = briefly }: { gate?: number; sleep?: Workbench['sleep'] } = {},
  ): Workbench {
    const provider: Provider = {
      model: 'fake',
      complete: async ({ row: name }: SummaryRequest) => {
        const row = Number(name.split('/')[1]);
        return await process.note('Provider', async () => {
          this.ledger.push({ row, process });
          return await this.replies(row, this.paid(row));
        });
      },
      close: () => {},
    };
    return {
      table: this.#tableOf(process),
      bucket: { client: process.s3, name: IMPORTS },
      queue: this.#queueOf(process, 'chunks'),
      provider: async () => provider,
      limits: { inputCharacters: 1000, outputTokens: 100 },
      prices: { inputUsdPerMillion: 1, outputUsdPerMillion: 2 },
      callTimeoutMs: CALL_TIMEOUT,
      gate: createGate(gate),
      allowance: this.#unbounded(sleep),
      yielding: { restMs: () => 0 },
      meter: NO_METER,
      now: () => this.clock.now,
      sleep,
      random: () => 0.5,
      completed: () => {
        this.completions += 1;
      },
      rowFailed: () => {},
      callFailed: () => {},
    };
  }

  /** An account without limits, which refuses all the same: what a line gives is tested where it is. */
  #unbounded(sleep: Workbench['sleep']): Allowance {
    let quietUntil = 0;
    const rest = (ms: number) => {
      quietUntil = Math.max(quietUntil, this.clock.now + ms);
    };
    return {
      storeOps: 0,
      refused: (retryAfterMs = 1000) => rest(retryAfterMs),
      overloaded: rest,
      yield: () => {},
      admit: async ({ withinMs, wanted }) => {
        const latest = this.clock.now + withinMs;
        const waited = { allowanceMs: 0, yieldMs: 0, refusedMs: 0 };
        let ms = quietUntil - this.clock.now;
        while (ms > 0 && this.clock.now + ms <= latest) {
          waited.refusedMs += ms;
          await sleep(ms);
          ms = quietUntil - this.clock.now;
        }
        if (ms > 0) return { kind: 'left', waited, delayMs: ms };
        if (!wanted() || this.clock.now > latest) return { kind: 'left', waited, delayMs: 0 };
        return { kind: 'begin', waited, settle: () => {} };
      },
    };
  }

  reaperOf(process: Process): Reaper {
    const chunks = this.#queueOf(process, 'chunks');
    return {
      table: this.#tableOf(process),
      bucket: { client: process.s3, name: IMPORTS },
      queues: { interactive: chunks, bulk: chunks },
      jobs: this.#queueOf(process, 'jobs'),
      resends: 3,
      quietMs: { interactive: 120_000, bulk: 900_000 },
      now: () => this.clock.now,
    };
  }

  async read(process: Process, change: Partial<Desk> = {}): Promise<ReadOutcome> {
    const source = { key: sourceKey(this.importId), etag: this.etag };
    const desk = { ...this.deskOf(process), ...change };
    return await readSource(desk, source, this.clock.now + 900_000);
  }

  async deliver(bench: Workbench, work: ChunkWork, ms = INVOCATION): Promise<ChunkOutcome> {
    this.#delivered += 1;
    try {
      return await summariseChunk(bench, work, this.clock.now + ms);
    } finally {
      this.#delivered -= 1;
    }
  }

  /**
   * Time passes at once; those who wait at the same time wait together. Workers look in between, as
   * often as they must to keep what they have.
   */
  readonly passing = async (ms: number): Promise<unknown> => {
    if (isLook(ms)) return await new Promise<void>((look) => this.#lookers.push(look));
    const at = this.clock.now + ms;
    this.#time = this.#time.then(() => this.#pass(at));
    return await this.#time;
  };
  #time: Promise<void> = setImmediate();
  /** Those who look when they are woken. */
  #lookers: (() => void)[] = [];
  /** Chunks that workers are at. */
  #delivered = 0;

  async #pass(at: number): Promise<void> {
    await setImmediate();
    while (this.clock.now < at) {
      this.clock.now = Math.min(at, this.clock.now + 4 * LOOK_EVERY);
      const before = this.#lookers.splice(0);
      for (const look of before) look();
      // They wait for the next time, but for those whose work is over: time does not outrun the table.
      const backOrGone = () => this.#lookers.length >= Math.min(before.length, this.#delivered);
      for (let ms = 0; ms < 2000 && !backOrGone(); ms++) await sleepFor(1);
    }
  }

  async reap(process: Process): Promise<Finding[]> {
    return (await reapImport(this.reaperOf(process), this.importId)).findings;
  }

  async item(): Promise<ImportItem> {
    return (await readImport(this.#tableOf(this.engines), this.importId)) ?? expect.fail();
  }

  async rows(): Promise<RowItem[]> {
    const { layout } = await this.item();
    if (layout === undefined) return [];
    const rows: RowItem[] = [];
    for (let chunk = 1; chunk <= chunksOf(layout); chunk++) {
      const span = rowsOfChunk(layout, chunk);
      const place = [this.#tableOf(this.engines), this.importId, pageOfChunk(chunk)] as const;
      rows.push(...(await readRows(...place, span)));
    }
    return rows;
  }

  async progress() {
    return await readProgress(this.#tableOf(this.engines), await this.item(), this.clock.now);
  }

  paid(row: number): number {
    return this.ledger.filter((call) => call.row === row).length;
  }

  /** What a process that just died, or any of them, has paid for and not written in the round that it is. */
  async inFlight(process?: Process): Promise<number[]> {
    const { round } = await this.item();
    const rows = (await this.rows()).filter((row) => isWritten(row, round));
    const written = new Set(rows.map(({ row }) => row));
    const called = this.ledger
      .filter((call) => process === undefined || call.process === process)
      .map(({ row }) => row);
    return [...new Set(called)].filter((row) => !written.has(row));
  }

  /**
   * Healthy processes do what is left: every message that is due is delivered, jobs are done, the
   * reaper comes each minute, until the import is over.
   */
  async recover(minutes = 120): Promise<void> {
    const process = this.engines.newProcess();
    const bench = this.benchOf(process);
    for (let minute = 0; minute < minutes; minute++) {
      for (const job of this.jobs.splice(0)) await this.#do(job, process);
      const due = this.chunks.filter(({ at }) => at <= this.clock.now);
      for (const message of due) {
        this.chunks.splice(this.chunks.indexOf(message), 1);
        await this.deliver(bench, message.work);
      }
      if (isOver((await this.item()).state)) return;
      // Where nothing is on its way, only time helps.
      this.clock.now += this.chunks.length + this.jobs.length > 0 ? 60_000 : 300_000;
      await this.reap(process);
    }
    expect.fail(`the import is still ${JSON.stringify(await this.item())}`);
  }

  async #do(body: string, process: Process): Promise<void> {
    for (const job of parseJobs(body)) {
      if (job.kind === 'send') await sendAll(this.deskOf(process), job.importId);
      else if (job.kind === 'read') await this.read(process);
    }
  }

  /** S1: the end, however it came about. */
  async expectComplete(rows: number, failed = 0): Promise<void> {
    const item = await this.item();
    expect(item.state).toBe(failed === 0 ? 'completed' : 'completed-with-failures');
    const written = await this.rows();
    expect(written.map(({ row }) => row)).toEqual(Array.from({ length: rows }, (_, i) => i + 1));
    expect(written.filter(({ state }) => state === 'failed')).toHaveLength(failed);
    const progress = await this.progress();
    expect([progress.done, progress.failed]).toEqual([rows - failed, failed]);
    expect(progress.chunksDone + progress.chunksFailed).toBe(Math.ceil(rows / this.chunkRows));
  }

  /** S2: no row is paid for twice but for those in flight at a kill. */
  expectPaidOnce(killed: readonly (readonly number[])[], rows: number): void {
    for (let row = 1; row <= rows; row++) {
      const excused = killed.filter((inFlight) => inFlight.includes(row)).length;
      expect(this.paid(row), `calls for row ${row}`).toBeLessThanOrEqual(1 + excused);
    }
  }
}
