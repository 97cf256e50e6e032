// What a gallery's page of presigned URLs costs in CPU time, ours beside the AWS SDK's presigner.
// Rounds alternate, so that a busy machine slows both.
import { GetObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { createUrlSigner } from '../shared/signing/sign-url.ts';

const URLS = 80;
const ROUNDS = 60;
const WARM_UP = 20;
const WINDOW_SECONDS = 900;

const place = { region: 'eu-west-1', bucket: 'glimpse-thumbnails' };
const credentials = {
  accessKeyId: 'ASIAIOSFODNN7EXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
  // A Lambda's session token is of about this length, and is hashed with every URL.
  sessionToken: 'IQoJb3JpZ2luX2VjE/+='.repeat(45),
};
const keys = Array.from(
  { length: URLS },
  (_, i) => `spring lookbook/photo ${i} (final).jpg/9b2cf535f27731c974343645a3985328/card.webp`,
);
const start = Date.parse('2026-03-01T12:00:00Z');

const client = new S3Client({
  region: place.region,
  credentials: { ...credentials },
  requestChecksumCalculation: 'WHEN_REQUIRED',
  responseChecksumValidation: 'WHEN_REQUIRED',
});
const sign = createUrlSigner(place, WINDOW_SECONDS);

async function ours(signedAt: Date): Promise<string[]> {
  return keys.map((key) => sign(credentials, key, signedAt).url);
}

async function theirs(signedAt: Date): Promise<string[]> {
  const options = { signingDate: signedAt, expiresIn: 2 * WINDOW_SECONDS };
  return Promise.all(
    keys.map((Key) =>
      getSignedUrl(client, new GetObjectCommand({ Bucket: place.bucket, Key }), options),
    ),
  );
}

/** In milliseconds, of this process and all its threads. */
async function cpuTime(page: (signedAt: Date) => Promise<string[]>, signedAt: Date) {
  const before = process.cpuUsage();
  const urls = await page(signedAt);
  const { user, system } = process.cpuUsage(before);
  return { urls, ms: (user + system) / 1000 };
}

function summary(samples: number[]) {
  const sorted = samples.toSorted((a, b) => a - b);
  const quantile = (q: number) => sorted[Math.floor(q * (sorted.length - 1))] ?? Number.NaN;
  return { median: quantile(0.5), p95: quantile(0.95), least: quantile(0) };
}

let first = { ours: Number.NaN, theirs: Number.NaN };
const spent: { ours: number[]; theirs: number[] } = { ours: [], theirs: [] };
for (let round = -WARM_UP; round < ROUNDS; round++) {
  // Every round in a window of its own: ours is measured with what it prepares once a window.
  const signedAt = new Date(start + round * WINDOW_SECONDS * 1000);
  const [a, b] = [await cpuTime(ours, signedAt), await cpuTime(theirs, signedAt)];
  if (a.urls.join() !== b.urls.join()) throw new Error('Expected both to give the same URLs.');
  if (round === -WARM_UP) first = { ours: a.ms, theirs: b.ms };
  if (round < 0) continue;
  spent.ours.push(a.ms);
  spent.theirs.push(b.ms);
}

const [mine, sdk] = [summary(spent.ours), summary(spent.theirs)];
const row = (name: string, ...cells: string[]) =>
  name.padEnd(22) + cells.map((cell) => cell.padStart(12)).join('');
const figures = (cold: number, { median, p95, least }: typeof mine) =>
  [cold, median, p95, least].map((ms) => ms.toFixed(2));

console.log(
  `CPU ms for ${URLS} presigned URLs, ${ROUNDS} alternating rounds, ${process.version}\n`,
);
console.log(row('', 'first page', 'warm median', 'p95', 'least'));
console.log(row('ours', ...figures(first.ours, mine)));
console.log(row('s3-request-presigner', ...figures(first.theirs, sdk)));
console.log(`\nratio of the warm medians: 1 : ${(sdk.median / mine.median).toFixed(0)}`);
