import type { IncomingHttpHeaders } from 'node:http';
import type { Body } from './body.ts';
import type { Engine, EngineAnswer } from './engine.ts';
import type { Notifications } from './notifications.ts';
import { S3Error } from './s3-error.ts';
import type { CreatedObject } from './s3-event.ts';
import { escapeXml, textsOf } from './xml.ts';

/** fauxqs takes bodies to 11 MiB; what is larger goes to it in parts, which S3 wants to be 5 MiB at least. */
const WHOLE_LIMIT = 10 * 1024 * 1024;
const PART_SIZE = 8 * 1024 * 1024;

export interface Target {
  readonly bucket: string;
  readonly key: string;
}

/** Writes, each of which notifies. */
export interface Store {
  put(
    target: Target,
    eventName: string,
    body: Body,
    headers: IncomingHttpHeaders,
  ): Promise<EngineAnswer>;
  /** Any other operation that creates the target. */
  create(
    target: Target,
    eventName: string,
    apply: () => Promise<EngineAnswer>,
  ): Promise<EngineAnswer>;
  remove(target: Target): Promise<EngineAnswer>;
}

export function createStore(engine: Engine, notifications: Notifications): Store {
  let last: Promise<unknown> = Promise.resolve();

  // One write at a time, as fauxqs does them anyway: only so is the order of the sequencers that of
  // the writes, and is a condition still true when the write that depends on it is made.
  const inTurn = <T>(write: () => Promise<T>): Promise<T> => {
    const turn = last.then(write);
    last = turn.catch(() => {});
    return turn;
  };

  const created = async ({ bucket, key }: Target): Promise<CreatedObject> => {
    const { headers } = await engine.call({ method: 'HEAD', bucket, key });
    return {
      size: Number(headers['content-length']),
      etag: headers.etag?.replaceAll('"', '') ?? '',
    };
  };

  const create = (
    target: Target,
    eventName: string,
    apply: () => Promise<EngineAnswer>,
    headers: IncomingHttpHeaders = {},
  ) =>
    inTurn(async () => {
      await assertCondition(engine, target, headers);
      const intent = notifications.intend(target.bucket, target.key, eventName);
      const answer = await apply();
      if (answer.status >= 300) {
        notifications.cancelled(intent);
      } else if (intent !== undefined) {
        void notifications.happened(intent, await created(target));
      }
      return answer;
    });

  return {
    create,
    async put(target, eventName, body, headers) {
      const send = await prepare(engine, target, body, headers);
      return create(target, eventName, send, headers);
    },
    remove: ({ bucket, key }) =>
      inTurn(async () => {
        const intent = notifications.intend(bucket, key, 'ObjectRemoved:Delete');
        const answer = await engine.call({ method: 'DELETE', bucket, key });
        if (answer.status >= 300) notifications.cancelled(intent);
        else void notifications.happened(intent);
        return answer;
      }),
  };
}

/** Takes the body in, and answers with what then makes it an object. */
async function prepare(
  engine: Engine,
  target: Target,
  body: Body,
  headers: IncomingHttpHeaders,
): Promise<() => Promise<EngineAnswer>> {
  const kept = keptHeaders(headers);
  // Not `target` itself, which may be a whole request with a method and headers of its own.
  const where = { bucket: target.bucket, key: target.key };
  if (body.size <= WHOLE_LIMIT) {
    const whole = Buffer.concat(await collect(body.chunks));
    const all = { ...kept, ...checksums({ ...headers, ...body.trailers }) };
    return () => engine.call({ method: 'PUT', ...where, headers: all, body: whole });
  }
  const begun = await engine.call({
    method: 'POST',
    ...where,
    query: { uploads: '' },
    headers: kept,
  });
  const [uploadId = ''] = textsOf(begun.body.toString(), 'UploadId');
  if (begun.status !== 200) return async () => begun;
  try {
    const parts = await uploadParts(engine, where, uploadId, body.chunks);
    const list = Buffer.from(`<CompleteMultipartUpload>${parts}</CompleteMultipartUpload>`);
    return () => engine.call({ method: 'POST', ...where, query: { uploadId }, body: list });
  } catch (error) {
    await engine.call({ method: 'DELETE', ...where, query: { uploadId } });
    throw error;
  }
}

async function collect(chunks: AsyncIterable<Buffer>): Promise<Buffer[]> {
  const all: Buffer[] = [];
  for await (const chunk of chunks) all.push(chunk);
  return all;
}

async function uploadParts(
  engine: Engine,
  where: Target,
  uploadId: string,
  chunks: AsyncIterable<Buffer>,
): Promise<string> {
  let held: Buffer[] = [];
  let size = 0;
  let parts = '';
  let partNumber = 0;
  const upload = async () => {
    partNumber += 1;
    const query = { partNumber: String(partNumber), uploadId };
    const { headers } = await engine.call({
      method: 'PUT',
      ...where,
      query,
      body: Buffer.concat(held),
    });
    parts += `<Part><PartNumber>${partNumber}</PartNumber><ETag>${escapeXml(headers.etag ?? '')}</ETag></Part>`;
    held = [];
    size = 0;
  };
  for await (const chunk of chunks) {
    held.push(chunk);
    size += chunk.length;
    if (size >= PART_SIZE) await upload();
  }
  if (size > 0) await upload();
  return parts;
}

/** fauxqs overwrites whatever the conditions of a PUT say. */
async function assertCondition(
  engine: Engine,
  { bucket, key }: Target,
  headers: IncomingHttpHeaders,
): Promise<void> {
  const ifMatch = headers['if-match'];
  const ifNoneMatch = headers['if-none-match'];
  if (ifMatch === undefined && ifNoneMatch === undefined) return;
  const { status, headers: found } = await engine.call({ method: 'HEAD', bucket, key });
  const exists = status === 200;
  if (ifMatch !== undefined && !exists) {
    throw new S3Error(404, 'NoSuchKey', 'The specified key does not exist.', { Key: key });
  }
  const unquoted = (etag: string | undefined) => etag?.replaceAll('"', '');
  const broken =
    (ifNoneMatch === '*' && exists) ||
    (ifMatch !== undefined && unquoted(ifMatch) !== unquoted(found.etag));
  if (!broken) return;
  const message = 'At least one of the pre-conditions you specified did not hold';
  const Condition = ifMatch === undefined ? 'If-None-Match' : 'If-Match';
  throw new S3Error(412, 'PreconditionFailed', message, { Condition });
}

const KEPT = ['cache-control', 'content-disposition', 'content-language'];

/** What S3 stores with an object, of a request's headers. */
export function keptHeaders(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  const kept = Object.entries(headers).filter(
    ([name]) => KEPT.includes(name) || name.startsWith('x-amz-meta-'),
  );
  const encodings = (headers['content-encoding'] ?? '').split(',').map((part) => part.trim());
  const encoding = encodings.filter((part) => part !== '' && part !== 'aws-chunked').join(',');
  return {
    'content-type': headers['content-type'] ?? 'binary/octet-stream',
    ...Object.fromEntries(kept),
    ...(encoding === '' ? {} : { 'content-encoding': encoding }),
  };
}

function checksums(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  return Object.fromEntries(
    Object.entries(headers).filter(([name]) => /^x-amz-checksum-(crc32|sha1|sha256)$/.test(name)),
  );
}
