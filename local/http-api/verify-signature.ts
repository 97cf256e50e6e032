import { timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { signRequest } from '../../shared/signing/sign-request.ts';
import type { Keys } from '../functions/environment.ts';
import { ACCOUNT } from '../template/intrinsics.ts';

const AUTHORIZATION =
  /^AWS4-HMAC-SHA256 Credential=([^/\s]+)\/(\d{8})\/([a-z0-9-]+)\/execute-api\/aws4_request,\s*SignedHeaders=([^,\s]+),\s*Signature=[0-9a-f]{64}$/;

/** A clock may be wrong by so much, in milliseconds. */
const SKEW = 5 * 60_000;

/** What a function is told of whoever signed; nothing, where no key that is known has signed this very request. */
export async function verifySignature(
  request: IncomingMessage,
  body: Uint8Array,
  keys: readonly Keys[],
  now: Date,
): Promise<object | undefined> {
  const { authorization = '' } = request.headers;
  const [, accessKeyId, , region = '', signedHeaders = ''] =
    AUTHORIZATION.exec(authorization) ?? [];
  const known = keys.find((each) => each.accessKeyId === accessKeyId);
  const at = dateOf(request.headers['x-amz-date']);
  const token = request.headers['x-amz-security-token'];
  if (known === undefined || at === undefined || known.sessionToken !== token) return undefined;
  if (Math.abs(at.getTime() - now.getTime()) > SKEW) return undefined;
  const names = signedHeaders.split(';');
  if (!names.includes('host') || !names.includes('x-amz-date')) return undefined;
  const headers = Object.fromEntries(
    names.map((name) => [name, [request.headers[name] ?? ''].flat().join(',')]),
  );
  const url = new URL(request.url ?? '/', `http://${request.headers.host}`);
  const expected = await signRequest(
    known,
    region,
    { method: request.method ?? 'GET', url, headers, body },
    at,
  );
  if (!same(expected.authorization ?? '', authorization)) return undefined;
  return {
    accessKey: known.accessKeyId,
    accountId: ACCOUNT,
    callerId: known.accessKeyId,
    cognitoIdentity: null,
    principalOrgId: null,
    userArn: `arn:aws:iam::${ACCOUNT}:user/${known.accessKeyId}`,
    userId: known.accessKeyId,
  };
}

/** `20260131T235959Z` */
function dateOf(text: unknown): Date | undefined {
  const match = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(String(text));
  if (match === null) return undefined;
  const [, year, month, day, hour, minute, second] = match;
  return new Date(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
}

function same(a: string, b: string): boolean {
  return a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b));
}
