import { createHmac, createSecretKey, hash, timingSafeEqual } from 'node:crypto';
import { encodeSegment } from '../../shared/signing/bucket-address.ts';
import { ALGORITHM, createSigningKeys, signatureOf } from '../../shared/signing/signing-key.ts';
import type { Keys } from '../functions/environment.ts';
import { REGION } from '../template/intrinsics.ts';
import { decodePath } from './object-key.ts';
import { parameter, type S3Request } from './operation.ts';
import { accessDenied, S3Error } from './s3-error.ts';

// Signature Version 4 as S3 verifies it, and the other services, which tell of it in words of their own.
// https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-authenticating-requests.html

/** A clock may be wrong by so much, in milliseconds. */
const SKEW = 15 * 60_000;
const LONGEST_LIFETIME = 604_800;

/** So many keys have signed lately: a stack's functions and a developer, around midnight. */
const REMEMBERED = 64;

export interface Verifier {
  /** The access key that signed; nothing if nobody did. @throws S3Error for a wrong or expired signature. */
  verify(request: Signable, now: Date): string | undefined;
  /** Whether a signature over this text (an upload form's policy) is one of ours. */
  verifyText(claim: Claim, text: string): void;
}

/** What a signature is made of. */
export type Signable = Pick<S3Request, 'method' | 'signedPath' | 'query' | 'headers'>;

/** What a signature says of itself. */
export interface Claim {
  accessKeyId: string;
  day: string;
  region: string;
  service: string;
  signature: string;
  sessionToken: string | undefined;
}

/** @param service for which a signature must have been made: the key of one is of no use to another. */
export function createVerifier(keys: readonly Keys[], service = 's3'): Verifier {
  const known = new Map(keys.map((each) => [each.accessKeyId, each]));
  const signingKeys = createSigningKeys(REMEMBERED, (secret, day, region) => {
    const scope = [day, region, service, 'aws4_request'];
    const key = scope.reduce(
      (last, part) => createHmac('sha256', last).update(part).digest(),
      Buffer.from(`AWS4${secret}`),
    );
    return createSecretKey(key);
  });

  const verifyText = (claim: Claim, text: string): void => {
    const signer = known.get(claim.accessKeyId);
    if (signer === undefined) {
      const message = 'The AWS Access Key Id you provided does not exist in our records.';
      throw new S3Error(403, 'InvalidAccessKeyId', message, { AWSAccessKeyId: claim.accessKeyId });
    }
    if (signer.sessionToken !== claim.sessionToken) {
      throw new S3Error(
        400,
        'InvalidToken',
        'The provided token is malformed or otherwise invalid.',
      );
    }
    if (claim.service !== service || claim.region !== REGION) {
      const message = `The credential should be scoped to ${service} in ${REGION}, got ${claim.service} in ${claim.region}.`;
      throw new S3Error(400, 'AuthorizationHeaderMalformed', message);
    }
    const key = signingKeys(signer.secretAccessKey, claim.day, claim.region);
    if (same(signatureOf(key, text), claim.signature)) return;
    throw new S3Error(
      403,
      'SignatureDoesNotMatch',
      'The request signature we calculated does not match the signature you provided. Check your key and signing method.',
      { AWSAccessKeyId: claim.accessKeyId, StringToSign: text },
    );
  };

  return {
    verifyText,
    verify(request, now) {
      const inQuery = signedInQuery(request, now);
      if (inQuery !== undefined && request.headers.authorization !== undefined) {
        const message = 'Only one auth mechanism allowed';
        throw new S3Error(400, 'InvalidArgument', message, { ArgumentName: 'Authorization' });
      }
      const signed = inQuery ?? signedInHeader(request, now);
      if (signed === undefined) return undefined;
      const { claim, date, signedHeaders, payload } = signed;
      if (claim.day !== date.slice(0, 8)) {
        const message = `Invalid credential date "${claim.day}". This date is not the same as X-Amz-Date: "${date}".`;
        throw new S3Error(400, 'AuthorizationQueryParametersError', message);
      }
      const canonical = canonicalRequest(request, signedHeaders, payload);
      const scope = `${claim.day}/${claim.region}/${claim.service}/aws4_request`;
      verifyText(claim, [ALGORITHM, date, scope, hash('sha256', canonical)].join('\n'));
      return claim.accessKeyId;
    },
  };
}

interface Signed {
  claim: Claim;
  date: string;
  signedHeaders: readonly string[];
  payload: string;
}

function signedInQuery(request: Signable, now: Date): Signed | undefined {
  if (parameter(request, 'X-Amz-Algorithm') === undefined) return undefined;
  const get = (name: string): string => {
    const value = parameter(request, name);
    if (value !== undefined) return value;
    const message = `Query-string authentication version 4 requires the ${name} parameter.`;
    throw new S3Error(400, 'AuthorizationQueryParametersError', message);
  };
  if (get('X-Amz-Algorithm') !== ALGORITHM) {
    const message = `X-Amz-Algorithm only supports "${ALGORITHM}"`;
    throw new S3Error(400, 'AuthorizationQueryParametersError', message);
  }
  const date = get('X-Amz-Date');
  const expires = get('X-Amz-Expires');
  const lifetime = /^\d+$/.test(expires) ? Number(expires) : Number.NaN;
  if (!(lifetime <= LONGEST_LIFETIME)) {
    const message =
      'X-Amz-Expires must be less than a week (in seconds); that is, the given X-Amz-Expires must be less than 604800 seconds';
    throw new S3Error(400, 'AuthorizationQueryParametersError', message);
  }
  const signedAt = parseDate(date).getTime();
  if (signedAt > now.getTime() + SKEW) throw accessDenied('Request is not yet valid');
  const expiry = new Date(signedAt + lifetime * 1000);
  if (expiry <= now) {
    throw accessDenied('Request has expired', {
      'X-Amz-Expires': String(lifetime),
      Expires: expiry.toISOString(),
      ServerTime: now.toISOString(),
    });
  }
  return {
    claim: {
      ...parseCredential(get('X-Amz-Credential')),
      signature: get('X-Amz-Signature'),
      sessionToken: parameter(request, 'X-Amz-Security-Token'),
    },
    date,
    signedHeaders: get('X-Amz-SignedHeaders').split(';'),
    payload: String(request.headers['x-amz-content-sha256'] ?? 'UNSIGNED-PAYLOAD'),
  };
}

const AUTHORIZATION =
  /^AWS4-HMAC-SHA256 Credential=([^,\s]+),\s*SignedHeaders=([^,\s]+),\s*Signature=([0-9a-f]{64})$/;

function signedInHeader({ headers }: Signable, now: Date): Signed | undefined {
  if (headers.authorization === undefined) return undefined;
  const match = AUTHORIZATION.exec(headers.authorization);
  const date = headers['x-amz-date'];
  if (match === null || typeof date !== 'string') {
    const message = 'The authorization header that you provided is not valid.';
    throw new S3Error(400, 'AuthorizationHeaderMalformed', message);
  }
  if (Math.abs(parseDate(date).getTime() - now.getTime()) > SKEW) {
    const message = "The difference between the request time and the server's time is too large.";
    throw new S3Error(403, 'RequestTimeTooSkewed', message);
  }
  const token = headers['x-amz-security-token'];
  return {
    claim: {
      ...parseCredential(match[1] ?? ''),
      signature: match[3] ?? '',
      sessionToken: token === undefined ? undefined : String(token),
    },
    date,
    signedHeaders: (match[2] ?? '').split(';'),
    payload: String(headers['x-amz-content-sha256'] ?? ''),
  };
}

function canonicalRequest(
  request: Signable,
  signedHeaders: readonly string[],
  payload: string,
): string {
  if (!signedHeaders.includes('host')) throw accessDenied('The header host must be signed');
  const unsigned = Object.keys(request.headers).find(
    (name) =>
      name.startsWith('x-amz-') && !signedHeaders.includes(name) && name !== 'x-amz-content-sha256',
  );
  if (unsigned !== undefined) {
    throw accessDenied('There were headers present in the request which were not signed', {
      HeadersNotSigned: unsigned,
    });
  }
  const headers = signedHeaders.map((name) => {
    const value = [request.headers[name] ?? ''].flat().join(',');
    return `${name}:${value.trim().replace(/ +/g, ' ')}\n`;
  });
  const query = request.query
    .filter(([name]) => name !== 'X-Amz-Signature')
    .map(([name, value]) => `${encodeSegment(name)}=${encodeSegment(value)}`)
    .sort();
  const path = request.signedPath.split('/').map((part) => encodeSegment(decodePath(part)));
  return [
    request.method,
    path.join('/'),
    query.join('&'),
    headers.join(''),
    signedHeaders.join(';'),
    payload,
  ].join('\n');
}

export function parseCredential(credential: string): Omit<Claim, 'signature' | 'sessionToken'> {
  const [end, service = '', region = '', day = '', ...rest] = credential.split('/').reverse();
  const accessKeyId = rest.reverse().join('/');
  if (end === 'aws4_request' && /^\d{8}$/.test(day) && accessKeyId !== '') {
    return { accessKeyId, day, region, service };
  }
  const message = 'Error parsing the X-Amz-Credential parameter; the Credential is mal-formed';
  throw new S3Error(400, 'AuthorizationQueryParametersError', message);
}

/** `20260131T235959Z` */
function parseDate(text: string): Date {
  const match = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(text);
  if (match === null) throw accessDenied('Invalid date (should be in ISO8601 basic format)');
  const [, year, month, day, hour, minute, second] = match;
  return new Date(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
}

function same(a: string, b: string): boolean {
  return a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b));
}
