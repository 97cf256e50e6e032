import * as z from 'zod';
import { MalformedMessageError } from '../errors.ts';

// What arrives on the thumbnail queues: requests of our own, and S3's notifications.

/** What a worker is told to do with one image. */
export type Work =
  /** Make what a viewer or a backfill asked for. */
  | { kind: 'wanted'; image: string }
  /** S3 says that an object was written. */
  | { kind: 'created'; image: string; etag: string; sequencer: string }
  /** S3 says that an object was removed. */
  | { kind: 'removed'; image: string; sequencer: string };

const requestSchema = z.strictObject({ image: z.string().min(1) });

const notificationSchema = z.object({
  Records: z.array(
    z.object({
      eventSource: z.literal('aws:s3'),
      eventName: z.string(),
      s3: z.object({
        object: z.object({
          key: z.string(),
          eTag: z.string().optional(),
          sequencer: z.string(),
        }),
      }),
    }),
  ),
});

/** S3 sends one when a notification is set, without `Records`. */
const testSchema = z.object({ Event: z.literal('s3:TestEvent') });

const messageSchema = z.union([requestSchema, notificationSchema, testSchema]);

type Notification = z.infer<typeof notificationSchema>['Records'][number];

/** A request's message body. Non-ASCII is escaped: not every queue takes all of Unicode as it is. */
export function encodeRequest(image: string): string {
  return JSON.stringify({ image }).replace(
    /[\u0080-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** The work that a message asks for: none, for a test event or a folder's marker. */
export function parseMessage(body: string): Work[] {
  const message = messageSchema.safeParse(parseJson(body));
  if (!message.success) {
    throw new MalformedMessageError(
      `expected {"image"} or an S3 notification, got ${body.slice(0, 200)}`,
    );
  }
  if ('image' in message.data) return [{ kind: 'wanted', image: message.data.image }];
  if ('Event' in message.data) return [];
  return message.data.Records.map(workOf).filter((work) => work !== undefined);
}

function workOf({ eventName, s3: { object } }: Notification): Work | undefined {
  const image = decodeEventKey(object.key);
  const { sequencer } = object;
  if (image.endsWith('/')) return undefined;
  if (eventName.startsWith('ObjectRemoved:')) return { kind: 'removed', image, sequencer };
  if (!eventName.startsWith('ObjectCreated:') || object.eTag === undefined) return undefined;
  return { kind: 'created', image, etag: object.eTag, sequencer };
}

/** S3 writes a space as `+` and a plus as `%2B`: the plus goes first, and the rest is decoded once. */
function decodeEventKey(key: string): string {
  try {
    return decodeURIComponent(key.replaceAll('+', ' '));
  } catch (cause) {
    throw new MalformedMessageError(`expected a URL-encoded key, got ${key.slice(0, 200)}`, {
      cause,
    });
  }
}

function parseJson(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

/**
 * Sequencers are hexadecimal and of different lengths; padded on the right they compare as text.
 * Sixteen or eighteen digits are usual; 64 leaves room.
 */
export function padSequencer(sequencer: string): string {
  return sequencer.toUpperCase().padEnd(64, '0');
}
