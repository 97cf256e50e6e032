import { createSecretKey } from 'node:crypto';
import { GetObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import type { SigningPlace } from '../../../../shared/signing/bucket-address.ts';
import { createUrlSigner } from '../../../../shared/signing/sign-url.ts';
import {
  type Credentials,
  createSigningKeys,
  ExpiredCredentialsError,
} from '../../../../shared/signing/signing-key.ts';

const PLACE = { region: 'eu-west-1', bucket: 'thumbs' } satisfies SigningPlace;
const CREDENTIALS = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfi' };
const NOON = Date.parse('2026-03-01T12:00:00Z');
const WINDOW = 900;

const at = (secondsAfterNoon: number) => new Date(NOON + secondsAfterNoon * 1000);
const expiring = (secondsAfterNoon: number) => ({
  ...CREDENTIALS,
  expiration: at(secondsAfterNoon),
});

function sdkUrl(
  { region, bucket, endpoint }: SigningPlace,
  credentials: Credentials,
  key: string,
  signingDate: Date,
  expiresIn: number,
): Promise<string> {
  const client = new S3Client({
    region,
    // A copy: the client notes on the object itself where the credentials came from.
    credentials: { ...credentials },
    // Otherwise it asks S3 for a checksum that a browser has no use for, and sends that of no body.
    responseChecksumValidation: 'WHEN_REQUIRED',
    requestChecksumCalculation: 'WHEN_REQUIRED',
    ...(endpoint === undefined ? {} : { endpoint, forcePathStyle: true }),
  });
  const command = new GetObjectCommand({ Bucket: bucket, Key: key });
  return getSignedUrl(client, command, { signingDate, expiresIn });
}

const parameter = (url: string, name: string) => new URL(url).searchParams.get(name);

// Pieces that someone has mis-encoded before, among any others.
const awkward = fc.constantFrom(
  ...['/', '//', '.', '..', ' ', '+', '%', '%25', '%2F', '%zz', '#', '?', '&', '=', ':', ';', ','],
  ...['@', '$', '$&', "'", '"', '`', '!', '(', ')', '*', '~', '-', '_', '\\', '|', '<', '>', '^'],
  ...['{', '}', '[', ']', '\n', '\t', '\0', '\u007f', '\u00a0', '\u2028', '\ufeff', '\uffff'],
  ...[
    'é',
    'e\u0301',
    'ß',
    '日本',
    '🦊',
    '👩‍👩‍👧',
    'a.jpg',
    '{Key+}',
    '{Bucket}',
    '$' + '{filename}',
  ],
);
const keys = fc
  .array(fc.oneof(awkward, fc.string({ unit: 'binary', minLength: 1, maxLength: 8 })), {
    minLength: 1,
    maxLength: 12,
  })
  .map((pieces) => pieces.join(''));
const regions = fc.constantFrom(
  ...['eu-west-1', 'us-east-1', 'ap-southeast-4', 'us-gov-west-1', 'cn-north-1', 'mx-central-1'],
  ...['eusc-de-east-1', 'us-iso-east-1', 'us-isob-east-1', 'eu-isoe-west-1', 'us-isof-south-1'],
);
const buckets = fc.oneof(
  fc.stringMatching(/^[a-z0-9][a-z0-9-]{1,61}[a-z0-9]$/),
  fc.stringMatching(/^[a-z0-9]{1,20}(\.[a-z0-9]{1,9}){1,4}$/).filter((name) => name.length > 2),
  fc.constantFrom('Old_Bucket', 'UPPER', '192.168.5.4', 'a--b', 'a.-b', '123', 'b'.repeat(63)),
);
const endpoints = fc.oneof(
  fc.constant(undefined),
  fc.constantFrom('http://127.0.0.1:4002', 'http://127.0.0.1:4002/', 'http://LocalHost:80'),
  fc.constantFrom('https://s3.example.com:443/', 'https://s3.example.com:8443', 'http://h/a/b c/'),
  fc.constantFrom('http://[::1]:9000', 'https://bücher.example', 'http://h:443'),
);
const places = fc
  .record({ region: regions, bucket: buckets, endpoint: endpoints })
  .map(({ endpoint, ...place }) => (endpoint === undefined ? place : { ...place, endpoint }));
const printable = fc.string({ unit: 'grapheme-ascii', minLength: 1, maxLength: 40 });
const credentialsOfAnyKind = fc
  .record({
    accessKeyId: fc.stringMatching(/^[A-Z0-9]{1,20}$/),
    secretAccessKey: printable,
    sessionToken: fc.option(fc.oneof(printable, fc.base64String(), fc.constant('')), {
      nil: undefined,
    }),
  })
  .map(({ sessionToken, ...pair }) =>
    sessionToken === undefined ? pair : { ...pair, sessionToken },
  );
const dates = fc.date({
  min: new Date('1980-01-01'),
  max: new Date('2200-01-01'),
  noInvalidDate: true,
});
const windows = fc.oneof(fc.integer({ min: 1, max: 302_400 }), fc.constantFrom(1, 900, 302_400));

describe("a URL is the SDK's, byte for byte,", () => {
  it('for any place, credentials, key, time and window', async () => {
    const anything = fc.tuple(places, credentialsOfAnyKind, keys, dates, windows);
    await fc.assert(
      fc.asyncProperty(anything, async ([place, credentials, key, now, window]) => {
        const { url, expiresAt } = createUrlSigner(place, window)(credentials, key, now);
        const signedAt = Math.floor(now.getTime() / 1000 / window) * window;
        expect(url).toBe(
          await sdkUrl(place, credentials, key, new Date(signedAt * 1000), 2 * window),
        );
        expect(expiresAt).toEqual(new Date((signedAt + 2 * window) * 1000));
      }),
      { numRuns: 300 },
    );
  });

  it('when one signer serves many keys, credentials and windows in turn', async () => {
    const sign = createUrlSigner(PLACE, WINDOW);
    const calls = fc.array(
      fc.tuple(
        fc.constantFrom(
          CREDENTIALS,
          { ...CREDENTIALS, sessionToken: 'one' },
          { ...CREDENTIALS, sessionToken: 'two' },
          { ...CREDENTIALS, accessKeyId: 'AKIDOTHER' },
          { ...CREDENTIALS, secretAccessKey: 'other' },
        ),
        keys,
        fc.constantFrom(0, 1, WINDOW, 86_400),
      ),
      { maxLength: 8 },
    );
    await fc.assert(
      fc.asyncProperty(calls, async (turns) => {
        for (const [credentials, key, seconds] of turns) {
          const signedAt = at(seconds - (seconds % WINDOW));
          expect(sign(credentials, key, at(seconds)).url).toBe(
            await sdkUrl(PLACE, credentials, key, signedAt, 2 * WINDOW),
          );
        }
      }),
    );
  });

  it('when the credentials cut its life short', async () => {
    const credentials = expiring(WINDOW + 7);
    const { url } = createUrlSigner(PLACE, WINDOW)(credentials, 'a b.webp', at(1));
    expect(url).toBe(await sdkUrl(PLACE, credentials, 'a b.webp', at(0), WINDOW + 7));
  });
});

describe('a key in a URL', () => {
  it('is what a URL parser gives back, unless a browser collapses its dots', () => {
    fc.assert(
      fc.property(
        keys.filter((key) => !key.split('/').some((part) => /^\.\.?$/.test(part))),
        (key) => {
          const { url } = createUrlSigner(PLACE, WINDOW)(CREDENTIALS, key, at(0));
          expect(decodeURIComponent(new URL(url).pathname)).toBe(`/${key}`);
        },
      ),
      { numRuns: 1000 },
    );
  });

  it('keeps composed and decomposed accents apart', () => {
    const sign = createUrlSigner(PLACE, WINDOW);
    expect(sign(CREDENTIALS, '\u00e9', at(0)).url).toContain('/%C3%A9?');
    expect(sign(CREDENTIALS, 'e\u0301', at(0)).url).toContain('/e%CC%81?');
  });

  it('with a lone surrogate, which is no text, throws', () => {
    expect(() => createUrlSigner(PLACE, WINDOW)(CREDENTIALS, '\ud800', at(0))).toThrow(URIError);
  });
});

describe('within a window', () => {
  it('every moment, signer and copy of the credentials gives the same URL', () => {
    const offsets = fc.integer({ min: 0, max: WINDOW * 1000 - 1 });
    fc.assert(
      fc.property(keys, offsets, offsets, (key, early, late) => {
        const [one, other] = [createUrlSigner(PLACE, WINDOW), createUrlSigner(PLACE, WINDOW)];
        const first = one(CREDENTIALS, key, new Date(NOON + early));
        expect(one({ ...CREDENTIALS }, key, new Date(NOON + late))).toEqual(first);
        expect(other(CREDENTIALS, key, new Date(NOON + late))).toEqual(first);
      }),
    );
  });

  it('a URL has at least one whole window left', () => {
    fc.assert(
      fc.property(dates, windows, (now, window) => {
        const { expiresAt } = createUrlSigner(PLACE, window)(CREDENTIALS, 'a', now);
        const left = (expiresAt.getTime() - now.getTime()) / 1000;
        expect(left).toBeGreaterThan(window);
        expect(left).toBeLessThanOrEqual(2 * window);
      }),
    );
  });

  it('no answer can be changed through another', () => {
    const sign = createUrlSigner(PLACE, WINDOW);
    sign(CREDENTIALS, 'a', at(0)).expiresAt.setTime(0);
    expect(sign(CREDENTIALS, 'a', at(0)).expiresAt).toEqual(at(2 * WINDOW));
  });
});

describe('across windows', () => {
  it('the first millisecond of the next one changes the URL', () => {
    const sign = createUrlSigner(PLACE, WINDOW);
    const last = sign(CREDENTIALS, 'a', new Date(NOON + WINDOW * 1000 - 1));
    const next = sign(CREDENTIALS, 'a', at(WINDOW));
    expect(next.url).not.toBe(last.url);
    expect(parameter(last.url, 'X-Amz-Date')).toBe('20260301T120000Z');
    expect(parameter(next.url, 'X-Amz-Date')).toBe('20260301T121500Z');
  });

  it('midnight changes the day that is signed for', async () => {
    const sign = createUrlSigner(PLACE, WINDOW);
    const midnight = new Date('2026-03-02T00:00:00Z');
    const before = sign(CREDENTIALS, 'a', new Date(midnight.getTime() - 1)).url;
    const after = sign(CREDENTIALS, 'a', midnight).url;
    expect(parameter(before, 'X-Amz-Credential')).toContain('/20260301/');
    expect(parameter(after, 'X-Amz-Credential')).toContain('/20260302/');
    expect(after).toBe(await sdkUrl(PLACE, CREDENTIALS, 'a', midnight, 2 * WINDOW));
  });

  it('a window that spans midnight stays on the day it began', () => {
    const sign = createUrlSigner(PLACE, 1000);
    const midnight = Date.parse('2026-03-02T00:00:00Z');
    const [before, after] = [-1, 0].map(
      (ms) => sign(CREDENTIALS, 'a', new Date(midnight + ms)).url,
    );
    expect(after).toBe(before);
  });
});

describe('credentials', () => {
  it('that end before two windows do end the URL with them, on the second below', () => {
    const sign = createUrlSigner(PLACE, WINDOW);
    const credentials = { ...CREDENTIALS, expiration: new Date(NOON + 1_000_999) };
    const { url, expiresAt } = sign(credentials, 'a', at(5));
    expect(expiresAt).toEqual(at(1000));
    expect(parameter(url, 'X-Amz-Expires')).toBe('1000');
    expect(sign(credentials, 'a', at(899)).url).toBe(url);
  });

  it('that end later change nothing', () => {
    const sign = createUrlSigner(PLACE, WINDOW);
    expect(sign(expiring(2 * WINDOW), 'a', at(0))).toEqual(sign(CREDENTIALS, 'a', at(0)));
  });

  it('never sign a URL that outlives them, or one that is dead when it is handed out', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: -5_000, max: 5_000_000 }),
        fc.integer({ min: 0, max: 4_000_000 }),
        (end, moment) => {
          const credentials = { ...CREDENTIALS, expiration: new Date(NOON + end) };
          const now = new Date(NOON + moment);
          const sign = createUrlSigner(PLACE, WINDOW);
          if (Math.floor(end / 1000) * 1000 <= moment) {
            expect(() => sign(credentials, 'a', now)).toThrow(ExpiredCredentialsError);
            return;
          }
          const { url, expiresAt } = sign(credentials, 'a', now);
          const signedAt = NOON + Math.floor(moment / 1000 / WINDOW) * WINDOW * 1000;
          const lifetime = Number(parameter(url, 'X-Amz-Expires')) * 1000;
          expect(signedAt + lifetime).toBe(expiresAt.getTime());
          expect(expiresAt.getTime()).toBeLessThanOrEqual(NOON + end);
          expect(expiresAt.getTime()).toBeGreaterThan(now.getTime());
        },
      ),
      { numRuns: 1000 },
    );
  });

  it('that expire in mid window are refused from then on, though the window was opened before', () => {
    const sign = createUrlSigner(PLACE, WINDOW);
    const credentials = expiring(60);
    expect(sign(credentials, 'a', at(59)).expiresAt).toEqual(at(60));
    expect(() => sign(credentials, 'a', at(60))).toThrow(
      'Expected credentials good after 2026-03-01T12:01:00.000Z, got some until 2026-03-01T12:01:00.000Z.',
    );
  });

  it('whose expiration is no date are refused', () => {
    const credentials = { ...CREDENTIALS, expiration: new Date(Number.NaN) };
    expect(() => createUrlSigner(PLACE, WINDOW)(credentials, 'a', at(0))).toThrow(
      ExpiredCredentialsError,
    );
  });

  it('that end at one moment seen from two windows give each window its own URL', async () => {
    const sign = createUrlSigner(PLACE, WINDOW);
    const credentials = expiring(WINDOW + 100);
    expect(sign(credentials, 'a', at(0)).expiresAt).toEqual(at(WINDOW + 100));
    const { url, expiresAt } = sign(credentials, 'a', at(WINDOW));
    expect(expiresAt).toEqual(at(WINDOW + 100));
    expect(url).toBe(await sdkUrl(PLACE, credentials, 'a', at(WINDOW), 100));
  });

  it('whose end is moved give a URL with the new end', () => {
    const sign = createUrlSigner(PLACE, WINDOW);
    sign(expiring(100), 'a', at(0));
    expect(parameter(sign(expiring(200), 'a', at(0)).url, 'X-Amz-Expires')).toBe('200');
  });

  it('that a provider renews in place are noticed', () => {
    const sign = createUrlSigner(PLACE, WINDOW);
    const credentials = { ...CREDENTIALS };
    sign(credentials, 'a', at(0));
    credentials.accessKeyId = 'AKIDRENEWED';
    expect(parameter(sign(credentials, 'a', at(0)).url, 'X-Amz-Credential')).toMatch(
      /^AKIDRENEWED/,
    );
  });
});

describe('a signing window', () => {
  it('may be half of seven days, and the URL then lives for seven', async () => {
    const { url } = createUrlSigner(PLACE, 302_400)(CREDENTIALS, 'a', at(0));
    expect(parameter(url, 'X-Amz-Expires')).toBe('604800');
  });

  it.each([0, -1, 1.5, 302_401, Number.NaN, Number.POSITIVE_INFINITY])(
    'cannot be %d s',
    (seconds) => {
      expect(() => createUrlSigner(PLACE, seconds)).toThrow(
        `Expected a signing window of 1 to 302400 whole seconds, got ${seconds}.`,
      );
    },
  );
});

describe('signing keys', () => {
  const derive = () => vi.fn((secret: string) => createSecretKey(Buffer.from(secret)));

  it('are derived once for a secret, a day and a region', () => {
    const derivation = derive();
    const keys = createSigningKeys(8, derivation);
    for (let i = 0; i < 3; i++) {
      keys('secret', '20260301', 'eu-west-1');
      keys('other', '20260301', 'eu-west-1');
      keys('secret', '20260302', 'eu-west-1');
      keys('secret', '20260301', 'us-east-1');
    }
    expect(derivation).toHaveBeenCalledTimes(4);
  });

  it('serve a whole page of URLs, and the next window on that day, with one derivation', () => {
    const derivation = derive();
    const sign = createUrlSigner(PLACE, WINDOW, createSigningKeys(8, derivation));
    for (let i = 0; i < 80; i++) sign(CREDENTIALS, `${i}.webp`, at(i * 60));
    expect(derivation).toHaveBeenCalledTimes(1);
  });

  it('are forgotten, the oldest first, beyond the limit', () => {
    const derivation = derive();
    const keys = createSigningKeys(2, derivation);
    for (const day of ['1', '2', '3', '3', '2', '1']) keys('secret', day, 'eu-west-1');
    expect(derivation.mock.calls.map((call) => call[1 as 0])).toEqual(['1', '2', '3', '1']);
  });
});
