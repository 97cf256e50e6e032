import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { PutObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import { buildWeb } from '../web/build.ts';
import { builtFiles, configFile, type PageFile } from '../web/files.ts';
import { openClients } from './clients.ts';
import type { Target } from './target.ts';

export interface Publication {
  client: S3Client;
  bucket: string;
  /** What was built, in the order in which it may appear. */
  files: readonly PageFile[];
  /** The content of /config.json. */
  config: string;
}

/**
 * Puts the pages into their bucket, and answers what each upload was as it is done. A page comes
 * after all that it names, so whoever opens one meanwhile has the earlier or the later, whole.
 * What earlier pages named stays, for whoever has one open.
 */
export async function* publish({
  client,
  bucket,
  files,
  config,
}: Publication): AsyncGenerator<{ path: string; bytes: number }> {
  yield await put(configFile(), Buffer.from(config));
  for (const file of files) yield await put(file, await readFile(file.file));

  async function put(
    { path, contentType, cacheControl }: Omit<PageFile, 'file'>,
    body: Buffer,
  ): Promise<{ path: string; bytes: number }> {
    await client.send(
      new PutObjectCommand({
        Bucket: bucket,
        Key: path,
        Body: body,
        ContentType: contentType,
        CacheControl: cacheControl,
      }),
    );
    return { path, bytes: body.length };
  }
}

/** Builds the pages, puts them into a deployed stack's bucket, and tells of each file. */
export async function publishPages(target: Target): Promise<void> {
  const { description, outputs } = target;
  const { PagesBucket: bucket, PagesConfig: config, PagesUrl: url } = outputs;
  if (bucket === undefined || config === undefined) {
    console.log(`Nothing to publish: ${description} has no pages (cdk/config.ts: pages).`);
    return;
  }
  const root = resolve(import.meta.dirname, '..');
  await buildWeb(root);
  const files = builtFiles(root);
  console.log(`The pages of ${description} go to s3://${bucket}`);
  const client = openClients(target).s3;
  for await (const { path, bytes } of publish({ client, bucket, files, config })) {
    console.log(`  ${path.padEnd(40)} ${(bytes / 1000).toFixed(1).padStart(8)} KB`);
  }
  console.log(`Done: ${url ?? 'published'}`);
}
