import { hash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { z } from 'zod';
import type { Authority, Call, Caller } from '../iam/authority.ts';
import type { Identities } from '../iam/identities.ts';
import { S3Error } from './s3-error.ts';
import { createVerifier } from './sigv4.ts';

// SQS, DynamoDB and SSM speak "AWS JSON": a signed POST with the operation in a header.

export type ServiceName = 'sqs' | 'dynamodb' | 'ssm';

export interface JsonRequest {
  /** Without the service: `SendMessage`. */
  readonly operation: string;
  readonly input: Record<string, unknown>;
  /** As it came. */
  readonly body: Buffer;
}

export class JsonError extends Error {
  readonly status: number;
  /** Such as `AccessDeniedException`. */
  readonly code: string;

  constructor(status: number, code: string, message: string) {
    super(message);
    this.name = 'JsonError';
    this.status = status;
    this.code = code;
  }
}

export interface JsonServiceOptions {
  name: ServiceName;
  /** What stands before an operation's name in the header, with its dot. */
  target: string;
  identities: Identities;
  authority: Authority;
  /** What an operation needs to be allowed; nothing if the local cloud does not know it. */
  callsOf(operation: string, input: Record<string, unknown>): readonly Call[] | undefined;
}

/** Lets in who has signed what it asks for and may do it. */
export type Admit = (message: IncomingMessage) => Promise<JsonRequest>;

const inputSchema = z.record(z.string(), z.unknown());

/** @throws JsonError, as AWS refuses it. */
export function createAdmission(options: JsonServiceOptions): Admit {
  const { name, target, identities, authority, callsOf } = options;
  const verifier = createVerifier(identities.keys, name);

  const callerOf = (message: IncomingMessage, body: Buffer): Caller => {
    try {
      // The bytes themselves are what was signed, whatever a header says of them.
      const headers = { ...message.headers, 'x-amz-content-sha256': hash('sha256', body) };
      const url = new URL(message.url ?? '/', 'http://localhost');
      const request = {
        method: message.method ?? 'POST',
        signedPath: url.pathname,
        query: [...url.searchParams],
        headers,
      };
      const signer = verifier.verify(request, new Date());
      if (signer !== undefined) return identities.callerOf(signer);
    } catch (error) {
      throw error instanceof S3Error ? inWordsOf(name, error) : error;
    }
    throw new JsonError(
      name === 'sqs' ? 403 : 400,
      'MissingAuthenticationTokenException',
      'Request is missing Authentication Token',
    );
  };

  return async (message) => {
    const body = await buffer(message);
    const caller = callerOf(message, body);
    const asked = String(message.headers['x-amz-target'] ?? '');
    const operation = asked.startsWith(target) ? asked.slice(target.length) : '';
    const input = parse(body);
    const calls = callsOf(operation, input);
    if (message.method !== 'POST' || calls === undefined) {
      throw new JsonError(
        400,
        'UnknownOperationException',
        `The local cloud does not know which permission ${asked || 'a call without an operation'} takes.`,
      );
    }
    for (const call of calls) {
      const refusal = authority.refusal(caller, call);
      if (refusal === undefined) continue;
      throw new JsonError(name === 'sqs' ? 403 : 400, 'AccessDeniedException', refusal);
    }
    return { operation, input, body };
  };
}

function parse(body: Buffer): Record<string, unknown> {
  try {
    return inputSchema.parse(body.length === 0 ? {} : JSON.parse(body.toString()));
  } catch {
    throw new JsonError(400, 'SerializationException', 'Expected a JSON object.');
  }
}

const MALFORMED = 'IncompleteSignatureException';
const WRONG = 'InvalidSignatureException';
const UNKNOWN = 'UnrecognizedClientException';

/** By S3's code: what the others call it. */
const CODES: Readonly<Record<string, string>> = {
  InvalidAccessKeyId: UNKNOWN,
  InvalidToken: UNKNOWN,
  SignatureDoesNotMatch: WRONG,
  RequestTimeTooSkewed: WRONG,
  AccessDenied: WRONG,
  AuthorizationHeaderMalformed: MALFORMED,
  AuthorizationQueryParametersError: MALFORMED,
  InvalidArgument: MALFORMED,
};

function inWordsOf(service: ServiceName, { code, message }: S3Error): JsonError {
  const own = CODES[code] ?? WRONG;
  const text = own === UNKNOWN ? 'The security token included in the request is invalid.' : message;
  return new JsonError(service === 'sqs' ? 403 : 400, own, text);
}

/** Codes by which SQS's clients know what others call otherwise: they were those of its older protocol. */
const SQS_CODES: Readonly<Record<string, string>> = {
  AccessDeniedException: 'AccessDenied',
  [UNKNOWN]: 'InvalidClientTokenId',
  [WRONG]: 'SignatureDoesNotMatch',
  [MALFORMED]: 'IncompleteSignature',
  MissingAuthenticationTokenException: 'MissingAuthenticationToken',
};

export function sendRefusal(response: ServerResponse, service: ServiceName, error: unknown): void {
  const known =
    error instanceof JsonError
      ? error
      : new JsonError(500, 'InternalError', error instanceof Error ? error.message : String(error));
  const older = service === 'sqs' ? SQS_CODES[known.code] : undefined;
  if (older !== undefined) response.setHeader('x-amzn-query-error', `${older};Sender`);
  const type = service === 'ssm' ? known.code : `com.amazon.coral.service#${known.code}`;
  sendJson(response, service, known.status, { __type: type, message: known.message });
}

export function sendJson(
  response: ServerResponse,
  service: ServiceName,
  status: number,
  body: object,
): void {
  if (response.headersSent || response.destroyed) return;
  const text = Buffer.from(JSON.stringify(body));
  response.writeHead(status, {
    'content-type': `application/x-amz-json-1.${service === 'ssm' ? 1 : 0}`,
    'content-length': text.length,
  });
  response.end(text);
}
