import { createHmac, createSecretKey } from 'node:crypto';
import { S3Client } from '@aws-sdk/client-s3';
import { createPresignedPost } from '@aws-sdk/s3-presigned-post';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { SigningPlace } from '../../../../shared/signing/bucket-address.ts';
import { createUrlSigner } from '../../../../shared/signing/sign-url.ts';
import {
  type Credentials,
  createSigningKeys,
  ExpiredCredentialsError,
} from '../../../../shared/signing/signing-key.ts';
import {
  createUploadFormSigner,
  NotPostableError,
  type Upload,
} from '../../../../shared/signing/upload-form.ts';

const PLACE = { region: 'eu-west-1', bucket: 'originals' } satisfies SigningPlace;
const CREDENTIALS = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfi' };
const NOON = new Date('2026-03-01T12:00:00Z');
const UPLOAD = { key: 'a/b.jpg', contentType: 'image/jpeg', bytes: 12_345 } satisfies Upload;
const FILENAME = '$' + '{filename}';

const later = (milliseconds: number) => new Date(NOON.getTime() + milliseconds);

function sdkForm(
  { region, bucket, endpoint }: SigningPlace,
  credentials: Credentials,
  { key, contentType, bytes }: Upload,
  lifetime: number,
) {
  const client = new S3Client({
    region,
    credentials: { ...credentials },
    ...(endpoint === undefined ? {} : { endpoint, forcePathStyle: true }),
  });
  const { least, most } = typeof bytes === 'number' ? { least: bytes, most: bytes } : bytes;
  // The oracle brings its own, slightly older client, whose type is another though it is as good.
  type Client = Parameters<typeof createPresignedPost>[0];
  return createPresignedPost(client as unknown as Client, {
    Bucket: bucket,
    Key: key,
    Expires: lifetime,
    Fields: { 'Content-Type': contentType },
    Conditions: [['content-length-range', least, most]],
  });
}

interface Policy {
  expiration: string;
  conditions: unknown[];
}

const policyText = (encoded = '') => Buffer.from(encoded, 'base64').toString('utf8');
const policyOf = (encoded?: string): Policy => JSON.parse(policyText(encoded));
const asSet = (conditions: unknown[]) => new Set(conditions.map((one) => JSON.stringify(one)));

/** AWS's own recipe, spelled out once more. */
function signatureByHand(secret: string, credential: string, policy: string): string {
  const [, day = '', region = ''] = credential.split('/');
  const hmac = (key: string | Buffer, text: string) =>
    createHmac('sha256', key).update(text, 'utf8').digest();
  const key = hmac(hmac(hmac(hmac(`AWS4${secret}`, day), region), 's3'), 'aws4_request');
  return hmac(key, policy).toString('hex');
}

const pieces = fc.constantFrom(
  ...['/', '//', '.', '..', ' ', '+', '%', '%25', '#', '?', '&', "'", '"', '`', '\\', '\\u0024'],
  ...['$', '$key', '$$', '${', '{filename}', '$&', '}', '\t', '\0', '\u2028', '\ufeff', '\uffff'],
  ...['é', 'e\u0301', '日本', '🦊', 'a.jpg', '</script>'],
);
const postableKeys = fc
  .array(fc.oneof(pieces, fc.string({ unit: 'binary', minLength: 1, maxLength: 8 })), {
    minLength: 1,
    maxLength: 12,
  })
  .map((parts) => parts.join(''))
  .filter((key) => !key.includes(FILENAME) && !/[\r\n]/.test(key));
const uploads = fc.record({
  key: postableKeys,
  contentType: fc.constantFrom('image/jpeg', 'image/svg+xml', 'text/plain; charset="utf-8"'),
  bytes: fc.oneof(
    fc.nat({ max: 5 * 1024 ** 3 }),
    fc.record({ least: fc.nat({ max: 9 }), most: fc.integer({ min: 9, max: 5 * 1024 ** 3 }) }),
  ),
});
const endpoints = fc.constantFrom(
  ...[undefined, 'http://127.0.0.1:4002', 'http://127.0.0.1:4002/', 'https://s3.example.com/base'],
);
const places = fc
  .record({
    region: fc.constantFrom('eu-west-1', 'us-east-1', 'cn-north-1', 'us-iso-east-1'),
    bucket: fc.constantFrom('originals', 'with.a.dot', 'Old_Bucket', '123'),
    endpoint: endpoints,
  })
  .map(({ endpoint, ...place }) => (endpoint === undefined ? place : { ...place, endpoint }));
const credentialsOfAnyKind = fc
  .record({
    accessKeyId: fc.stringMatching(/^[A-Z0-9]{1,20}$/),
    secretAccessKey: fc.string({ unit: 'grapheme-ascii', minLength: 1, maxLength: 40 }),
    sessionToken: fc.option(fc.oneof(fc.base64String(), fc.constant('to$ken')), { nil: undefined }),
  })
  .map(({ sessionToken, ...pair }) =>
    sessionToken === undefined ? pair : { ...pair, sessionToken },
  );
const dates = fc.date({
  min: new Date('1980-01-01'),
  max: new Date('2200-01-01'),
  noInvalidDate: true,
});
const lifetimes = fc.oneof(fc.integer({ min: 1, max: 604_800 }), fc.constantFrom(1, 604_800));

describe("a form is the SDK's", () => {
  // createPresignedPost takes no signing date.
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['Date'] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it('but for the order of its conditions, for any place, credentials, upload and time', async () => {
    const anything = fc.tuple(places, credentialsOfAnyKind, uploads, dates, lifetimes);
    await fc.assert(
      fc.asyncProperty(anything, async ([place, credentials, upload, now, lifetime]) => {
        vi.setSystemTime(now);
        const ours = createUploadFormSigner(place, lifetime)(credentials, upload, now);
        const theirs = await sdkForm(place, credentials, upload, lifetime);

        expect(ours.url).toBe(theirs.url);
        const { Policy: policy, 'X-Amz-Signature': signature, ...rest } = ours.fields;
        const { Policy: theirPolicy, 'X-Amz-Signature': _, ...theirRest } = theirs.fields;
        expect(rest).toEqual(theirRest);

        const [decoded, theirDecoded] = [policyOf(policy), policyOf(theirPolicy)];
        expect(decoded.expiration).toBe(theirDecoded.expiration);
        expect(asSet(decoded.conditions)).toEqual(asSet(theirDecoded.conditions));
        expect(decoded.conditions).toHaveLength(theirDecoded.conditions.length);
        expect(Date.parse(decoded.expiration)).toBe(ours.expiresAt.getTime());

        const credential = rest['X-Amz-Credential'] ?? '';
        expect(signature).toBe(
          signatureByHand(credentials.secretAccessKey, credential, policy ?? ''),
        );
      }),
      { numRuns: 300 },
    );
  });

  it('signed alike, as signing their policy by hand shows', async () => {
    vi.setSystemTime(NOON);
    const { fields } = await sdkForm(PLACE, CREDENTIALS, UPLOAD, 600);
    const { Policy: policy = '', 'X-Amz-Credential': credential = '' } = fields;
    const byHand = signatureByHand(CREDENTIALS.secretAccessKey, credential, policy);
    expect(byHand).toBe(fields['X-Amz-Signature']);
  });
});

describe('a policy', () => {
  const sign = createUploadFormSigner(PLACE, 600);

  it('fixes the key, the type, the exact size and every other field', () => {
    const { fields } = sign({ ...CREDENTIALS, sessionToken: 'token' }, UPLOAD, NOON);
    expect(policyOf(fields.Policy)).toEqual({
      expiration: '2026-03-01T12:10:00Z',
      conditions: [
        { 'Content-Type': 'image/jpeg' },
        { bucket: 'originals' },
        { 'X-Amz-Algorithm': 'AWS4-HMAC-SHA256' },
        { 'X-Amz-Credential': 'AKIDEXAMPLE/20260301/eu-west-1/s3/aws4_request' },
        { 'X-Amz-Date': '20260301T120000Z' },
        { 'X-Amz-Security-Token': 'token' },
        { key: 'a/b.jpg' },
        ['content-length-range', 12_345, 12_345],
      ],
    });
  });

  it('escapes a dollar sign in a way that both S3 and JSON read', () => {
    const { fields } = sign(CREDENTIALS, { ...UPLOAD, key: 'US$5/$key.jpg' }, NOON);
    expect(fields.key).toBe('US$5/$key.jpg');
    expect(policyText(fields.Policy)).toContain('{"key":"US\\u00245/\\u0024key.jpg"}');
    expect(policyText(fields.Policy)).not.toContain('$');
  });
});

describe('a key or type is refused', () => {
  const sign = createUploadFormSigner(PLACE, 600);

  it('with a file name variable anywhere, since S3 would let the uploader name the object', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (before, rest) => {
        const text = before + FILENAME + rest;
        expect(() => sign(CREDENTIALS, { ...UPLOAD, key: text }, NOON)).toThrow(NotPostableError);
        expect(() => sign(CREDENTIALS, { ...UPLOAD, contentType: text }, NOON)).toThrow(
          NotPostableError,
        );
      }),
    );
  });

  it.each(['a\nb.jpg', 'a\rb.jpg', 'a\r\nb.jpg'])('with a line break: %j', (key) => {
    expect(() => sign(CREDENTIALS, { ...UPLOAD, key }, NOON)).toThrow(NotPostableError);
  });

  it("in a sentence, as the caller's mistake", () => {
    const refused = () => sign(CREDENTIALS, { ...UPLOAD, key: `a/${FILENAME}` }, NOON);
    expect(refused).toThrow(
      `Expected a key without ${FILENAME}, which S3 replaces in a form, got "a/${FILENAME}".`,
    );
    expect(refused).toThrow(expect.objectContaining({ code: 'not-postable', blame: 'caller' }));
  });
});

describe('a line break', () => {
  it('really does not survive a form', async () => {
    const form = new FormData();
    form.append('key', 'a\nb');
    expect(await new Response(form).text()).toContain('\r\n\r\na\r\nb\r\n');
  });
});

describe('a form ends', () => {
  it('with the credentials, if they end first', () => {
    const credentials = { ...CREDENTIALS, expiration: later(90_999) };
    const { fields, expiresAt } = createUploadFormSigner(PLACE, 600)(credentials, UPLOAD, NOON);
    expect(expiresAt).toEqual(later(90_000));
    expect(policyOf(fields.Policy).expiration).toBe('2026-03-01T12:01:30Z');
  });

  it('on a whole second, never later than asked', () => {
    const { expiresAt } = createUploadFormSigner(PLACE, 600)(CREDENTIALS, UPLOAD, later(999));
    expect(expiresAt).toEqual(later(600_000));
  });

  it('before it begins with expired credentials, and so is refused', () => {
    const sign = createUploadFormSigner(PLACE, 600);
    for (const left of [-1000, 0, 999]) {
      const credentials = { ...CREDENTIALS, expiration: later(left) };
      expect(() => sign(credentials, UPLOAD, NOON)).toThrow(ExpiredCredentialsError);
    }
  });

  it.each([0, -1, 1.5, 604_801, Number.NaN])(
    'within seven days: a lifetime of %d s is refused',
    (seconds) => {
      expect(() => createUploadFormSigner(PLACE, seconds)).toThrow(
        `Expected an upload form's lifetime of 1 to 604800 whole seconds, got ${seconds}.`,
      );
    },
  );
});

describe('a signing key', () => {
  it('serves forms and URLs alike', () => {
    const derive = vi.fn(() => createSecretKey(Buffer.from('key')));
    const keys = createSigningKeys(8, derive);
    createUrlSigner({ ...PLACE, bucket: 'thumbs' }, 900, keys)(CREDENTIALS, 'a', NOON);
    createUploadFormSigner(PLACE, 600, keys)(CREDENTIALS, UPLOAD, NOON);
    expect(derive).toHaveBeenCalledTimes(1);
  });
});
