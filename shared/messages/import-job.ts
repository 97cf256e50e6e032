import * as z from 'zod';
import { MalformedMessageError } from '../errors.ts';

// What arrives on the jobs queue: jobs of our own, and S3's notifications of sources.

/** Something that is done for an import as a whole. */
export type ImportJob =
  /** A source was uploaded: read it. */
  | { kind: 'read'; key: string; etag: string }
  /** Send every chunk that is not closed. */
  | { kind: 'send'; importId: string }
  /** Write the CSV with the summaries to this key. */
  | { kind: 'export'; importId: string; key: string; onlyFailed: boolean };

const ownSchema = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('read'), key: z.string().min(1), etag: z.string().min(1) }),
  z.strictObject({ kind: z.literal('send'), importId: z.string().min(1) }),
  z.strictObject({
    kind: z.literal('export'),
    importId: z.string().min(1),
    key: z.string().min(1),
    onlyFailed: z.boolean(),
  }),
]);

const notificationSchema = z.object({
  Records: z.array(
    z.object({
      eventSource: z.literal('aws:s3'),
      eventName: z.string().startsWith('ObjectCreated:'),
      s3: z.object({ object: z.object({ key: z.string(), eTag: z.string() }) }),
    }),
  ),
});

/** S3 sends one when a notification is set, without `Records`. */
const testSchema = z.object({ Event: z.literal('s3:TestEvent') });

const messageSchema = z.union([ownSchema, notificationSchema, testSchema]);

export const encodeJob = (job: ImportJob): string => JSON.stringify(job);

/** The jobs that a message asks for. */
export function parseJobs(body: string): ImportJob[] {
  const parsed = messageSchema.safeParse(parseJson(body));
  if (!parsed.success) {
    throw new MalformedMessageError(
      `expected a job of an import or an S3 notification, got ${body.slice(0, 200)}`,
      { cause: parsed.error },
    );
  }
  if ('kind' in parsed.data) return [parsed.data];
  if ('Event' in parsed.data) return [];
  return parsed.data.Records.map(({ s3: { object } }) => ({
    kind: 'read',
    key: decodeEventKey(object.key),
    etag: object.eTag,
  }));
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
