import { GetObjectCommand, PutObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import * as z from 'zod';
import { chunkObjectKey, type SourceName, wholeRowKey } from './import-objects.ts';

export interface ImportsBucket {
  client: S3Client;
  name: string;
}

export async function writeChunkObject(
  { client, name }: ImportsBucket,
  source: SourceName,
  chunk: number,
  text: string,
): Promise<void> {
  await client.send(
    new PutObjectCommand({
      Bucket: name,
      Key: chunkObjectKey(source, chunk),
      Body: text,
      ContentType: 'application/x-ndjson',
    }),
  );
}

export async function readChunkObject(
  { client, name }: ImportsBucket,
  source: SourceName,
  chunk: number,
): Promise<string> {
  const answer = await client.send(
    new GetObjectCommand({ Bucket: name, Key: chunkObjectKey(source, chunk) }),
  );
  return (await answer.Body?.transformToString()) ?? '';
}

/** The cells of a row as they are in the file, for its export: nobody else needs them. */
export async function writeWholeRow(
  { client, name }: ImportsBucket,
  source: SourceName,
  row: number,
  cells: readonly string[],
): Promise<void> {
  await client.send(
    new PutObjectCommand({
      Bucket: name,
      Key: wholeRowKey(source, row),
      Body: JSON.stringify(cells),
      ContentType: 'application/json',
    }),
  );
}

export async function readWholeRow(
  { client, name }: ImportsBucket,
  source: SourceName,
  row: number,
): Promise<string[]> {
  const answer = await client.send(
    new GetObjectCommand({ Bucket: name, Key: wholeRowKey(source, row) }),
  );
  const text = await answer.Body?.transformToString();
  return z.array(z.string()).parse(JSON.parse(text ?? ''));
}
