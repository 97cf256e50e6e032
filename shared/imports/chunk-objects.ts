import { GetObjectCommand, PutObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import { chunkObjectKey, type SourceName } from './import-objects.ts';

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
