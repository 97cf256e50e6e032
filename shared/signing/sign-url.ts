import { createHash } from 'node:crypto';
import {
  type BucketAddress,
  bucketAddress,
  encodeKey,
  encodeSegment,
  type SigningPlace,
} from './bucket-address.ts';
import {
  ALGORITHM,
  amzDate,
  type Credentials,
  createSigningKeys,
  credentialScope,
  expiryOf,
  LONGEST_LIFETIME,
  type SigningKeys,
  signatureOf,
} from './signing-key.ts';

export interface SignedUrl {
  readonly url: string;
  /** S3 refuses the URL from here on. */
  readonly expiresAt: Date;
}

/** @throws ExpiredCredentialsError if the credentials have less than a second left. */
export type UrlSigner = (credentials: Credentials, key: string, now: Date) => SignedUrl;

/** What every URL of a window is made from. */
interface SigningTerms {
  readonly credentials: Credentials;
  readonly signedAt: Date;
  readonly expiresAt: Date;
}

/**
 * Presigned GETs, for browsers to load from a private bucket.
 *
 * The time of signing is rounded down to a window, so an object's URL, and with it the browser's
 * cached copy, stays the same to the byte until the window ends or the credentials change. It is
 * good for two windows: whoever gets it in a window's last second has a whole one left, unless the
 * credentials end earlier.
 *
 * The URLs are those of the AWS SDK's presigner at a fraction of its price, since a gallery's page
 * asks for eighty at once: what the URLs of a window have in common is worked out once, and then
 * each costs one SHA-256 and one HMAC.
 *
 * @param windowSeconds whole, 1 to 302,400: S3 allows seven days, which are two windows.
 */
export function createUrlSigner(
  place: SigningPlace,
  windowSeconds: number,
  signingKeys: SigningKeys = createSigningKeys(),
): UrlSigner {
  assertWindow(windowSeconds);
  const address = bucketAddress(place);
  let current: { terms: SigningTerms; sign: (key: string) => string } | undefined;

  return (credentials, key, now) => {
    const signedAt = startOfWindow(now, windowSeconds);
    const expiresAt = expiryOf(signedAt, 2 * windowSeconds, credentials, now);
    const terms = { credentials, signedAt, expiresAt };
    if (!current || !sameTerms(current.terms, terms)) {
      current = {
        terms: { ...terms, credentials: { ...credentials } },
        sign: openWindow(address, place.region, terms, signingKeys),
      };
    }
    return { url: current.sign(key), expiresAt };
  };
}

function assertWindow(seconds: number): void {
  const longest = LONGEST_LIFETIME / 2;
  if (Number.isInteger(seconds) && seconds >= 1 && seconds <= longest) return;
  throw new RangeError(
    `Expected a signing window of 1 to ${longest} whole seconds, got ${String(seconds)}.`,
  );
}

function startOfWindow(now: Date, windowSeconds: number): Date {
  const windowMs = windowSeconds * 1000;
  return new Date(Math.floor(now.getTime() / windowMs) * windowMs);
}

// By value: a credentials provider may answer with a new object, or change the one it gave before.
function sameTerms(a: SigningTerms, b: SigningTerms): boolean {
  return (
    a.signedAt.getTime() === b.signedAt.getTime() &&
    a.expiresAt.getTime() === b.expiresAt.getTime() &&
    a.credentials.accessKeyId === b.credentials.accessKeyId &&
    a.credentials.secretAccessKey === b.credentials.secretAccessKey &&
    a.credentials.sessionToken === b.credentials.sessionToken
  );
}

/** Everything but the key, so that a URL is two hashes and a little concatenation. */
function openWindow(
  address: BucketAddress,
  region: string,
  { credentials, signedAt, expiresAt }: SigningTerms,
  signingKeys: SigningKeys,
): (key: string) => string {
  const date = amzDate(signedAt);
  const day = date.slice(0, 8);
  const scope = credentialScope(day, region);
  const signingKey = signingKeys(credentials.secretAccessKey, day, region);
  const lifetime = (expiresAt.getTime() - signedAt.getTime()) / 1000;
  const query = queryAround(credentials, scope, date, lifetime);

  const textBefore = `${ALGORITHM}\n${date}\n${scope}\n`;
  const requestAfter = `\n${query.before}&${query.after}\nhost:${address.host}\n\nhost\nUNSIGNED-PAYLOAD`;

  return (key) => {
    const path = `${address.path}/${encodeKey(key)}`;
    const request = `GET\n${path}${requestAfter}`;
    const signature = signatureOf(signingKey, textBefore + sha256(request));
    return `${address.origin}${path}?${query.before}&X-Amz-Signature=${signature}&${query.after}`;
  };
}

/** The parameters that sort before and after X-Amz-Signature, which does not sign itself. */
function queryAround(
  { accessKeyId, sessionToken }: Credentials,
  scope: string,
  date: string,
  lifetime: number,
): { before: string; after: string } {
  const before = [
    `X-Amz-Algorithm=${ALGORITHM}`,
    'X-Amz-Content-Sha256=UNSIGNED-PAYLOAD',
    `X-Amz-Credential=${encodeSegment(`${accessKeyId}/${scope}`)}`,
    `X-Amz-Date=${date}`,
    `X-Amz-Expires=${lifetime}`,
  ];
  if (sessionToken) before.push(`X-Amz-Security-Token=${encodeSegment(sessionToken)}`);
  return { before: before.join('&'), after: 'X-Amz-SignedHeaders=host&x-id=GetObject' };
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
