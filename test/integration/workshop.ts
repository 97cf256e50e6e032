import {
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
} from '@aws-sdk/client-s3';
import { ReceiveMessageCommand } from '@aws-sdk/client-sqs';
import { GetCommand } from '@aws-sdk/lib-dynamodb';
import sharp from 'sharp';
import type { Workshop } from '../../functions/thumbnail-worker/workshop.ts';
import { parseMessage } from '../../shared/messages/thumbnail-work.ts';
import { type ImageItem, imageItemSchema } from '../../shared/thumbnails/image-item.ts';
import { keyOf } from '../../shared/thumbnails/images-table.ts';
import type { Variant } from '../../shared/thumbnails/variant.ts';
import { type Engines, ORIGINALS, type Process, THUMBNAILS } from './engines.ts';

// A worker on the embedded engines, and what its tests look at.

export const card: Variant = {
  name: 'card',
  width: 48,
  height: 48,
  fit: 'inside',
  format: 'webp',
  quality: 75,
  orientation: 'exif',
};
export const zoom: Variant = { ...card, name: 'zoom', width: 160, height: 160 };

/** Time that a test moves. */
export interface Clock {
  now: number;
}

export function workshopOf(process: Process, table: string, clock: Clock): Workshop {
  return {
    table: { client: process.dynamo, name: table },
    originals: { client: process.s3, bucket: ORIGINALS },
    thumbnails: { client: process.s3, bucket: THUMBNAILS },
    variants: [card, zoom],
    maxBytes: 10_000_000,
    memoryBytes: 1769 * 1024 * 1024,
    now: () => clock.now,
    galleries: new Set(),
  };
}

/** A small picture in one colour; another colour is another source. */
export function picture(color: string): Promise<Buffer> {
  return sharp({ create: { width: 200, height: 100, channels: 3, background: color } })
    .jpeg()
    .toBuffer();
}

/** Puts an original and gives its ETag. */
export async function putOriginal(engines: Engines, image: string, bytes: Buffer): Promise<string> {
  const answer = await engines.s3.send(
    new PutObjectCommand({ Bucket: ORIGINALS, Key: image, Body: bytes }),
  );
  return answer.ETag?.replaceAll('"', '') ?? '';
}

export async function itemOf(
  engines: Engines,
  table: string,
  image: string,
): Promise<ImageItem | undefined> {
  const answer = await engines.dynamo.send(
    new GetCommand({ TableName: table, Key: keyOf(image), ConsistentRead: true }),
  );
  return answer.Item === undefined ? undefined : imageItemSchema.parse(answer.Item);
}

export async function thumbnailKeys(engines: Engines, prefix: string): Promise<string[]> {
  const answer = await engines.s3.send(
    new ListObjectsV2Command({ Bucket: THUMBNAILS, Prefix: prefix }),
  );
  return (answer.Contents ?? []).map(({ Key }) => Key ?? '');
}

export async function thumbnailExists(engines: Engines, key: string): Promise<boolean> {
  try {
    await engines.s3.send(new HeadObjectCommand({ Bucket: THUMBNAILS, Key: key }));
    return true;
  } catch {
    return false;
  }
}

/** The colour in the middle of a thumbnail: tells which source it was made from. */
export async function colorOf(engines: Engines, key: string): Promise<number[]> {
  const answer = await engines.s3.send(new GetObjectCommand({ Bucket: THUMBNAILS, Key: key }));
  const bytes = await answer.Body?.transformToByteArray();
  const { data } = await sharp(bytes)
    .resize(1, 1)
    .removeAlpha()
    .raw()
    .toBuffer({ resolveWithObject: true });
  return [...data];
}

/** Every image that the queue's messages ask for, in the order they came; they stay hidden. */
export async function drainQueue(engines: Engines): Promise<string[]> {
  const images: string[] = [];
  for (;;) {
    const { Messages: messages = [] } = await engines.sqs.send(
      new ReceiveMessageCommand({
        QueueUrl: engines.queueUrl,
        MaxNumberOfMessages: 10,
        VisibilityTimeout: 600,
      }),
    );
    if (messages.length === 0) return images;
    for (const { Body: body = '' } of messages) {
      images.push(...parseMessage(body).map(({ image }) => image));
    }
  }
}
