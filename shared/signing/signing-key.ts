import { createHmac, createSecretKey, type KeyObject } from 'node:crypto';
import { GlimpseError } from '../errors.ts';

// Signature Version 4, the parts that a URL and an upload form have in common.
// https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-authenticating-requests.html

export interface Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
  /** When AWS stops honouring them. What they sign dies with them, whatever it says itself. */
  readonly expiration?: Date;
}

export const ALGORITHM = 'AWS4-HMAC-SHA256';

/** Seven days: S3 refuses a signature that asks to live longer. In seconds. */
export const LONGEST_LIFETIME = 604_800;

/** Nothing useful can be signed any more; whoever provides the credentials must renew them. */
export class ExpiredCredentialsError extends GlimpseError {
  override readonly name = 'ExpiredCredentialsError';
  readonly code = 'expired-credentials';
  readonly blame = 'transient';

  constructor(expiration: Date | undefined, now: Date) {
    // toJSON, because a date that is none makes toISOString throw.
    super(
      `Expected credentials good after ${now.toJSON()}, got some until ${expiration?.toJSON()}.`,
    );
  }
}

/** The key for a day (`20260131`) and region, derived or remembered. */
export type SigningKeys = (secretAccessKey: string, day: string, region: string) => KeyObject;

/**
 * Signing keys that are derived once, by four HMACs, and then remembered.
 *
 * @param limit how many are kept, the oldest making room. A process needs two, around midnight or
 *   a change of credentials.
 */
export function createSigningKeys(limit = 8, derive: SigningKeys = deriveSigningKey): SigningKeys {
  const keys = new Map<string, KeyObject>();
  return (secretAccessKey, day, region) => {
    const name = `${day}/${region}/${secretAccessKey}`;
    const known = keys.get(name);
    if (known) return known;
    const key = derive(secretAccessKey, day, region);
    keys.set(name, key);
    for (const oldest of keys.keys()) {
      if (keys.size <= limit) break;
      keys.delete(oldest);
    }
    return key;
  };
}

// A KeyObject, because createHmac takes 2 microseconds with one and 12 with the same bytes.
function deriveSigningKey(secretAccessKey: string, day: string, region: string): KeyObject {
  const scope = [day, region, 's3', 'aws4_request'];
  return createSecretKey(scope.reduce(hmac, Buffer.from(`AWS4${secretAccessKey}`)));
}

function hmac(key: Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}

/** The last step: what AWS will compare. */
export function signatureOf(key: KeyObject, text: string): string {
  return createHmac('sha256', key).update(text).digest('hex');
}

/** `20260131T235959Z`; a fraction of a second is dropped. */
export function amzDate(at: Date): string {
  return at.toISOString().replace(/[-:]|\.\d{3}/g, '');
}

/** What a signature is good for: one day, one region, S3. */
export function credentialScope(day: string, region: string): string {
  return `${day}/${region}/s3/aws4_request`;
}

/**
 * When something signed at `signedAt` for `lifetime` seconds really ends: on a whole second, and
 * never after the credentials. Depends on nothing but its arguments, so that signing again gives
 * the same bytes. Credentials without an expiration are taken to outlive everything.
 *
 * @throws ExpiredCredentialsError if that is not after `now`.
 */
export function expiryOf(
  signedAt: Date,
  lifetime: number,
  credentials: Credentials,
  now: Date,
): Date {
  const wanted = signedAt.getTime() + lifetime * 1000;
  const allowed = credentials.expiration?.getTime() ?? Number.POSITIVE_INFINITY;
  const end = Math.floor(Math.min(wanted, allowed) / 1000) * 1000;
  // Written so that an expiration which is no date at all is refused too.
  if (end > now.getTime()) return new Date(end);
  throw new ExpiredCredentialsError(credentials.expiration, now);
}
