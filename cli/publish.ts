import { readFile } from 'node:fs/promises';
import { PutObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import { configFile, type PageFile } from '../web/files.ts';

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
