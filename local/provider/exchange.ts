import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Account, Levels } from './account.ts';
import { faultOf, latencyOf, type Random, randomFor } from './chance.ts';
import type { Ask, Dialect, ErrorAnswer, RefusalContext } from './dialect.ts';
import type { Call, Ledger } from './ledger.ts';
import { write } from './model.ts';
import { BODY_LIMIT, readBody, readJson } from './request-body.ts';
import {
  FAILURES,
  type FaultName,
  type FaultRule,
  type Latency,
  REFUSALS,
  type Refusal,
} from './settings.ts';
import { countTokens } from './tokens.ts';

const LONGEST_HANG_MS = 600_000;
const LONGEST_ROW = 512;

export interface OpenAccount extends Account {
  readonly showsHeaders: boolean;
}

/** What an exchange needs to know; it may change between two calls. */
export interface House {
  readonly seed: number;
  readonly ledger: Ledger;
  /** Of all who have none of their own; absent without limits. */
  account: OpenAccount | undefined;
  /** By key. */
  accounts: ReadonlyMap<string, OpenAccount>;
  latency: Latency;
  faults: readonly FaultRule[];
  stopping: boolean;
}

/** Epoch milliseconds by a clock that nobody sets. */
export function clock(): number {
  return performance.timeOrigin + performance.now();
}

/** One call, from its headers to whatever ends it. The ledger gets it then. */
interface Exchange {
  readonly house: House;
  readonly dialect: Dialect;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly start: number;
  readonly key: string;
  /** That of its key, as it was when the call came. */
  readonly account: OpenAccount | undefined;
  row: string;
  attempt: number;
  id: string;
  status: Call['status'];
  outcome: string;
  inputTokens: number;
  outputTokens: number;
  levels: Levels | undefined;
  timer: NodeJS.Timeout | undefined;
}

export function serveCall(
  house: House,
  dialect: Dialect,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  const key = dialect.key(request.headers);
  const exchange: Exchange = {
    house,
    dialect,
    request,
    response,
    start: clock(),
    key,
    account: house.accounts.get(key) ?? house.account,
    row: dialect.row(request.headers, undefined).slice(0, LONGEST_ROW),
    attempt: 0,
    id: '0',
    status: 'aborted',
    outcome: 'unread',
    inputTokens: 0,
    outputTokens: 0,
    levels: undefined,
    timer: undefined,
  };
  house.ledger.enter();
  response.once('close', () => close(exchange));
  readBody(request, (body) => hear(exchange, body));
}

function close(exchange: Exchange): void {
  clearTimeout(exchange.timer);
  const { house, row, attempt, start, key, dialect, outcome, inputTokens, outputTokens } = exchange;
  const cut = exchange.outcome === 'hang' ? 'hang' : 'reset';
  const status = house.stopping && exchange.status === 'aborted' ? cut : exchange.status;
  house.ledger.end({
    row,
    attempt,
    start,
    end: clock(),
    status,
    outcome,
    key: key.slice(-4),
    dialect: dialect.name,
    inputTokens,
    outputTokens,
  });
}

function hear(exchange: Exchange, body: Buffer | undefined): void {
  const { house, dialect, request } = exchange;
  const parsed = body === undefined ? undefined : readJson(body);
  exchange.row = dialect.row(request.headers, parsed).slice(0, LONGEST_ROW);
  const { attempt, call } = house.ledger.begin(exchange.row);
  exchange.attempt = attempt;
  exchange.id = call.toString(36).padStart(8, '0');
  if (body === undefined) {
    exchange.response.setHeader('connection', 'close');
    refuse(exchange, 'too-large', { message: `A body may have ${BODY_LIMIT} bytes.` });
    return;
  }
  const random = randomFor(house.seed, exchange.row, attempt);
  const fault = faultOf(house.faults, { row: exchange.row, attempt, call }, random);
  const ask = parsed === undefined ? 'The body is not JSON.' : dialect.read(parsed);
  admit(exchange, ask, fault, random);
}

/** At the door: the key, then the account, then the request. A refused call has spent its request. */
function admit(
  exchange: Exchange,
  ask: Ask | string,
  fault: FaultName | undefined,
  random: Random,
): void {
  const { account, key } = exchange;
  if (fault === 'key-refused' || fault === 'forbidden') {
    refuse(exchange, fault, { message: key });
    return;
  }
  const inputTokens =
    typeof ask === 'string' ? 0 : countTokens(ask.system) + countTokens(ask.input);
  // With the most that the answer may be; settled with what it was.
  const reserved = typeof ask === 'string' ? 0 : inputTokens + ask.maxTokens;
  const admission = account?.admit(reserved);
  if (account?.showsHeaders) exchange.levels = admission?.levels;
  if (admission !== undefined && !admission.admitted) {
    const { short, retryAfterMs } = admission;
    refuse(exchange, `rate-${short}`, { retryAfterMs }, `limit-${short}`);
    return;
  }
  if (typeof ask === 'string') {
    refuse(exchange, 'bad-request', { message: ask }, 'malformed');
    return;
  }
  const refusal = REFUSALS.find((name) => name === fault);
  if (refusal !== undefined) {
    account?.settle(reserved);
    refuse(exchange, refusal);
    return;
  }
  later(exchange, fault, random, () => work(exchange, ask, fault, inputTokens, reserved));
}

function later(
  exchange: Exchange,
  fault: FaultName | undefined,
  random: Random,
  work: () => void,
): void {
  exchange.outcome = fault ?? 'in-work';
  if (fault === 'hang') {
    exchange.timer = setTimeout(() => {
      exchange.status = 'hang';
      exchange.request.socket.destroy();
    }, LONGEST_HANG_MS);
    return;
  }
  const ms = latencyOf(exchange.house.latency, random);
  if (ms === 0) work();
  else exchange.timer = setTimeout(work, ms);
}

function work(
  exchange: Exchange,
  ask: Ask,
  fault: FaultName | undefined,
  inputTokens: number,
  reserved: number,
): void {
  const { account, dialect, id, start, levels } = exchange;
  const failure = FAILURES.find((name) => name === fault);
  if (failure !== undefined || fault === 'reset') account?.settle(reserved);
  if (failure !== undefined) {
    refuse(exchange, failure);
    return;
  }
  if (fault === 'reset') {
    exchange.status = 'reset';
    exchange.request.socket.resetAndDestroy();
    return;
  }

  const written = write(ask, fault);
  exchange.outcome = fault ?? written.ending;
  exchange.inputTokens = inputTokens;
  exchange.outputTokens = written.outputTokens;
  account?.settle(reserved - inputTokens - written.outputTokens);
  const now = clock();
  const body = JSON.stringify(dialect.answer({ id, ...written, inputTokens, tookMs: now - start }));
  const answer = { status: 200, headers: dialect.headers(id, levels, now), body };
  if (fault === 'reset-midway') breakMidway(exchange, answer);
  else if (fault === 'not-json') send(exchange, { ...answer, body: firstHalf(body) });
  else send(exchange, answer);
}

function firstHalf(body: string): string {
  return body.slice(0, body.length / 2).toWellFormed();
}

function breakMidway(exchange: Exchange, { status, headers, body }: ErrorAnswer): void {
  const { request, response } = exchange;
  exchange.status = 'reset';
  headers['content-length'] = String(Buffer.byteLength(body));
  response.writeHead(status, headers);
  response.write(firstHalf(body), () => request.socket.resetAndDestroy());
}

function refuse(
  exchange: Exchange,
  refusal: Refusal,
  context: Pick<RefusalContext, 'message' | 'retryAfterMs'> = {},
  outcome: string = refusal,
): void {
  const { dialect, id, levels } = exchange;
  exchange.outcome = outcome;
  send(exchange, dialect.refuse(refusal, { id, levels, ...context }));
}

function send(exchange: Exchange, { status, headers, body }: ErrorAnswer): void {
  const { response } = exchange;
  response.once('finish', () => {
    exchange.status = status;
  });
  headers['content-length'] = String(Buffer.byteLength(body));
  response.writeHead(status, headers).end(body);
}
