import { ListObjectsV2Command, PutObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import { openClients } from '../clients.ts';
import { createProgress } from '../progress.ts';
import { INTERRUPTED, stopBySignals } from '../stop-by-signals.ts';
import type { Target } from '../target.ts';
import { SAMPLE_COUNT, SAMPLE_IMAGES } from './catalogue.ts';
import { type SamplePicture, samplePictures } from './sample.ts';

/** At once, for a bucket that is far away. */
const UPLOADS = 8;

interface Originals {
  client: S3Client;
  bucket: string;
}

interface Told {
  step: (done: number) => void;
  end: (drawn: number, there: number, stopped: boolean) => void;
}

/** Puts into the originals bucket what it lacks of the sample, and tells how far it is. */
export async function putSample(target: Target, { json }: { json: boolean }): Promise<void> {
  const originals = connect(target);
  const signal = stopBySignals('the uploads under way end');

  const there = await present(originals);
  const progress = json ? lines() : oneLine(target.description);
  progress.step(there.size);
  const drawn = await fill(originals, there, signal, (count) => progress.step(there.size + count));
  progress.end(drawn, there.size, signal.aborted);
  if (signal.aborted) process.exitCode = INTERRUPTED;
}

/**
 * Draws what is not there, then puts it: a gallery that comes all at once is cold when it is first
 * looked at, and the drawing does not compete with the thumbnails for the processor.
 */
async function fill(
  originals: Originals,
  there: ReadonlySet<string>,
  signal: AbortSignal,
  step: (count: number) => void,
): Promise<number> {
  const pictures: SamplePicture[] = [];
  for await (const picture of samplePictures({ except: there, signal })) {
    pictures.push(picture);
    step(pictures.length);
  }
  let count = 0;
  const putNext = async (): Promise<void> => {
    for (let next = pictures.shift(); next && !signal.aborted; next = pictures.shift()) {
      await put(originals, next);
      count += 1;
    }
  };
  if (!signal.aborted) await Promise.all(Array.from({ length: UPLOADS }, putNext));
  return count;
}

async function put({ client, bucket }: Originals, picture: SamplePicture): Promise<void> {
  await client.send(
    new PutObjectCommand({
      Bucket: bucket,
      Key: picture.image,
      Body: picture.bytes,
      ContentType: picture.contentType,
    }),
  );
}

/** The sample's keys that the bucket has. An upload is whole or absent, so the key says enough. */
async function present({ client, bucket }: Originals): Promise<ReadonlySet<string>> {
  const ours = new Set(SAMPLE_IMAGES);
  const there = new Set<string>();
  let token: string | undefined;
  do {
    const page = await client.send(
      new ListObjectsV2Command({
        Bucket: bucket,
        Prefix: 'sample/',
        ...(token === undefined ? {} : { ContinuationToken: token }),
      }),
    );
    for (const { Key } of page.Contents ?? []) {
      if (Key !== undefined && ours.has(Key)) there.add(Key);
    }
    token = page.NextContinuationToken;
  } while (token !== undefined);
  return there;
}

function connect(target: Target): Originals {
  return { client: openClients(target).s3, bucket: target.outputs.OriginalsBucket };
}

function lines(): Told {
  return {
    step: (done) => console.log(JSON.stringify({ done, total: SAMPLE_COUNT })),
    end: () => undefined,
  };
}

function oneLine(description: string): Told {
  const progress = createProgress();
  const started = performance.now();
  const seconds = () => `${((performance.now() - started) / 1000).toFixed(1)} s`;
  return {
    step: (done) => progress.show(`${done} of ${SAMPLE_COUNT} pictures drawn · ${seconds()}`),
    end: (drawn, there, stopped) => {
      progress.end();
      const kept = there > 0 ? `, ${there} were there` : '';
      const summary = `${drawn} pictures put into ${description}${kept}, in ${seconds()}`;
      console.log(stopped ? `Stopped: ${summary}.` : `Done: ${summary}`);
    },
  };
}
