import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setImmediate } from 'node:timers/promises';
import type { z } from 'zod';
import { createAccount } from './account.ts';
import { anthropic } from './anthropic-dialect.ts';
import { bedrock } from './bedrock-dialect.ts';
import { complaint, type Dialect } from './dialect.ts';
import { clock, type House, type OpenAccount, serveCall } from './exchange.ts';
import { type Call, createLedger, type Ledger, type LedgerSummary } from './ledger.ts';
import { openai } from './openai-dialect.ts';
import { BODY_LIMIT, readBody, readJson } from './request-body.ts';
import {
  type AccountSettings,
  type ChangesInput,
  changesSchema,
  type OptionsInput,
  optionsSchema,
} from './settings.ts';

export interface Simulator {
  readonly url: string;
  readonly port: number;
  /** The calls that have ended, oldest first. */
  ledger(): readonly Call[];
  summary(): LedgerSummary;
  /** Empties the ledger and forgets which rows came before. */
  clear(): void;
  /** What is absent stays as it is; a new account begins full. */
  configure(changes: ChangesInput): void;
  stop(): Promise<void>;
}

/**
 * A model provider on this machine, for development, tests and measurements: three APIs with their
 * own headers and errors, one account, and a "model" that repeats what it was given. It listens on
 * the loopback address alone.
 *
 * @throws RangeError that names the option that is wrong.
 */
export async function startSimulator(options: OptionsInput = {}): Promise<Simulator> {
  const { account, accounts, latency, faults, port, seed, maxLedger } = parse(
    optionsSchema,
    options,
  );
  const ledger = createLedger(maxLedger);
  const house: House = {
    seed,
    ledger,
    latency,
    faults,
    stopping: false,
    account: account === null ? undefined : opened(account),
    accounts: openedByKey(accounts),
  };

  const configure = (given: unknown) => {
    const changes = parse(changesSchema, given);
    if (changes.account !== undefined)
      house.account = changes.account === null ? undefined : opened(changes.account);
    if (changes.accounts !== undefined) house.accounts = openedByKey(changes.accounts);
    house.latency = changes.latency ?? house.latency;
    house.faults = changes.faults ?? house.faults;
  };

  const server = createServer((request, response) => {
    const path = (request.url ?? '/').split('?', 1)[0] ?? '/';
    const dialect = request.method === 'POST' ? dialectOf(path) : undefined;
    if (dialect !== undefined) serveCall(house, dialect, request, response);
    else serveControl(path, request, response, ledger, configure);
  });
  // Longer than clients keep theirs, or one is closed just as a client sends on it.
  server.keepAliveTimeout = 65_000;
  const chosen = await listen(server, port);

  return {
    url: `http://127.0.0.1:${chosen}`,
    port: chosen,
    ledger: () => ledger.calls(),
    summary: () => ledger.summary(),
    clear: () => ledger.clear(),
    configure,
    async stop() {
      house.stopping = true;
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
      // Each call is told of the end of its connection after that.
      while (ledger.summary().inFlight > 0) await setImmediate();
    },
  };
}

function opened(settings: AccountSettings): OpenAccount {
  return { ...createAccount(settings, clock), showsHeaders: settings.headers };
}

function openedByKey(accounts: Readonly<Record<string, AccountSettings>>): House['accounts'] {
  return new Map(Object.entries(accounts).map(([key, settings]) => [key, opened(settings)]));
}

function dialectOf(path: string): Dialect | undefined {
  if (path === '/v1/chat/completions') return openai;
  if (path === '/v1/messages') return anthropic;
  return /^\/model\/[^/]+\/converse$/.test(path) ? bedrock : undefined;
}

function serveControl(
  path: string,
  request: IncomingMessage,
  response: ServerResponse,
  ledger: Ledger,
  configure: (changes: unknown) => void,
): void {
  switch (`${request.method} ${path}`) {
    case 'GET /ledger':
      response.writeHead(200, { 'content-type': 'application/jsonl' });
      // A reader that leaves early is no failure.
      pipeline(Readable.from(lines(ledger.calls())), response).catch(() => {});
      break;
    case 'GET /ledger/summary':
      answerJson(response, 200, ledger.summary());
      break;
    case 'DELETE /ledger':
      ledger.clear();
      response.writeHead(204).end();
      break;
    case 'POST /configure':
      readBody(request, (body) => answerConfigure(response, body, configure));
      break;
    default:
      answerError(
        response,
        404,
        'not-found',
        `Expected POST /v1/chat/completions, /v1/messages, /model/{id}/converse or /configure, GET /ledger or /ledger/summary, or DELETE /ledger, got ${request.method} ${path}.`,
      );
  }
}

function answerConfigure(
  response: ServerResponse,
  body: Buffer | undefined,
  configure: (changes: unknown) => void,
): void {
  if (body === undefined) {
    response.setHeader('connection', 'close');
    answerError(response, 413, 'too-large', `Expected at most ${BODY_LIMIT} bytes.`);
    return;
  }
  const changes = readJson(body);
  try {
    if (changes === undefined) throw new RangeError('Expected JSON.');
    configure(changes);
    answerJson(response, 200, {});
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    answerError(response, 400, 'invalid-request', error.message);
  }
}

function answerError(response: ServerResponse, status: number, code: string, message: string) {
  answerJson(response, status, { error: { code, message } });
}

function answerJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

const LINES_AT_ONCE = 500;

function* lines(calls: readonly Call[]): Generator<string> {
  for (let at = 0; at < calls.length; at += LINES_AT_ONCE) {
    yield calls
      .slice(at, at + LINES_AT_ONCE)
      .map((call) => `${JSON.stringify(call)}\n`)
      .join('');
  }
}

function parse<S extends z.ZodType>(schema: S, given: unknown): z.output<S> {
  const parsed = schema.safeParse(given);
  if (parsed.success) return parsed.data;
  throw new RangeError(complaint(parsed.error));
}

function listen(server: Server, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const inUse = `Port ${port}, for the provider simulator, is in use.`;
      reject(error.code === 'EADDRINUSE' ? new Error(inUse, { cause: error }) : error);
    });
    server.listen(port, '127.0.0.1', () => {
      const address = server.address();
      if (address === null || typeof address === 'string') reject(new Error('No address.'));
      else resolve(address.port);
    });
  });
}
