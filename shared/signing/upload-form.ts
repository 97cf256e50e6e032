import { GlimpseError } from '../errors.ts';
import { bucketAddress, type SigningPlace } from './bucket-address.ts';
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

/** The one upload that a form permits. */
export interface Upload {
  readonly key: string;
  readonly contentType: string;
  /** Exactly, or from one number to another; 0 to 5 GiB, S3's limit for a POST. */
  readonly bytes: number | { readonly least: number; readonly most: number };
}

/** A multipart POST to `url`: the fields in any order, then the file, in a field named `file`. */
export interface UploadForm {
  readonly url: string;
  readonly fields: Readonly<Record<string, string>>;
  /** S3 refuses an upload that starts later. */
  readonly expiresAt: Date;
}

/**
 * @throws NotPostableError if no form can name such a key or type.
 * @throws ExpiredCredentialsError if the credentials have less than a second left.
 */
export type UploadFormSigner = (credentials: Credentials, upload: Upload, now: Date) => UploadForm;

/** A POST would not carry this text as it is; a PUT would. */
export class NotPostableError extends GlimpseError {
  override readonly name = 'NotPostableError';
  readonly code = 'not-postable';
  readonly blame = 'caller';
}

/**
 * Forms by which a browser uploads one file, straight to S3, under the exact key and type and of
 * the size that were agreed.
 *
 * @param lifetimeSeconds whole, 1 to 604,800 (seven days); less if the credentials end earlier.
 */
export function createUploadFormSigner(
  place: SigningPlace,
  lifetimeSeconds: number,
  signingKeys: SigningKeys = createSigningKeys(),
): UploadFormSigner {
  assertLifetime(lifetimeSeconds);
  const { origin, path } = bucketAddress(place);

  return (credentials, upload, now) => {
    assertPostable('key', upload.key);
    assertPostable('content type', upload.contentType);
    const expiresAt = expiryOf(now, lifetimeSeconds, credentials, now);
    const date = amzDate(now);
    const day = date.slice(0, 8);
    const fields = fieldsOf(place, credentials, upload, date, credentialScope(day, place.region));
    const policy = encodedPolicy(fields, upload.bytes, expiresAt);
    const signingKey = signingKeys(credentials.secretAccessKey, day, place.region);
    return {
      url: path === '' ? `${origin}/` : origin + path,
      fields: { ...fields, Policy: policy, 'X-Amz-Signature': signatureOf(signingKey, policy) },
      expiresAt,
    };
  };
}

function assertLifetime(seconds: number): void {
  if (Number.isInteger(seconds) && seconds >= 1 && seconds <= LONGEST_LIFETIME) return;
  throw new RangeError(
    `Expected an upload form's lifetime of 1 to ${LONGEST_LIFETIME} whole seconds, got ${String(seconds)}.`,
  );
}

// S3 puts the file's name in place of `${filename}`, wherever it stands, before it looks at the
// policy, and knows no way to escape it: at best the upload is refused, at worst the uploader
// chooses the key. Line breaks become CR LF in every multipart form that a browser sends, so that
// the policy would meet another key than the one it was made for.
function assertPostable(what: string, text: string): void {
  if (/\$\{filename\}/.test(text)) {
    throw new NotPostableError(
      `Expected a ${what} without \${filename}, which S3 replaces in a form, got ${JSON.stringify(text)}.`,
    );
  }
  if (/[\r\n]/.test(text)) {
    throw new NotPostableError(
      `Expected a ${what} without line breaks, which browsers change in a form, got ${JSON.stringify(text)}.`,
    );
  }
}

function fieldsOf(
  { bucket }: SigningPlace,
  { accessKeyId, sessionToken }: Credentials,
  { key, contentType }: Upload,
  date: string,
  scope: string,
): Record<string, string> {
  return {
    'Content-Type': contentType,
    bucket,
    'X-Amz-Algorithm': ALGORITHM,
    'X-Amz-Credential': `${accessKeyId}/${scope}`,
    'X-Amz-Date': date,
    ...(sessionToken ? { 'X-Amz-Security-Token': sessionToken } : {}),
    key,
  };
}

/** Every field by its exact value: S3 refuses a form with a field that its policy leaves out. */
function encodedPolicy(
  fields: Record<string, string>,
  bytes: Upload['bytes'],
  expiresAt: Date,
): string {
  const { least, most } = typeof bytes === 'number' ? { least: bytes, most: bytes } : bytes;
  const exactly = Object.entries(fields).map(([name, value]) => ({ [name]: value }));
  const policy = {
    expiration: expiresAt.toISOString().replace('.000Z', 'Z'),
    conditions: [...exactly, ['content-length-range', least, most]],
  };
  // S3's policies are almost JSON: a dollar sign must be escaped, by a backslash that JSON does not
  // know or by its number, which is JSON too.
  return Buffer.from(JSON.stringify(policy).replaceAll('$', '\\u0024')).toString('base64');
}
