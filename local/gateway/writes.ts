import type { IncomingMessage, ServerResponse } from 'node:http';
import { bodyOf } from './body.ts';
import type { Engine, EngineAnswer } from './engine.ts';
import { decodePath, encodeKey } from './object-key.ts';
import { parameter, type S3Request } from './operation.ts';
import { errorOf } from './reads.ts';
import { S3Error } from './s3-error.ts';
import { keptHeaders, type Store, type Target } from './store.ts';
import type { UploadForm } from './upload-form.ts';
import { escapeXml, textsOf } from './xml.ts';

export async function putObject(
  store: Store,
  request: S3Request,
  message: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const answer = await store.put(request, 'ObjectCreated:Put', bodyOf(message), request.headers);
  refuseFailure(answer, request.key);
  for (const [name, value] of Object.entries(answer.headers)) {
    if (value !== undefined && /^(etag|x-amz-checksum-.*)$/.test(name))
      response.setHeader(name, value);
  }
  // An object made of parts has no ETag header in its answer.
  const [etag] = textsOf(answer.body.toString(), 'ETag');
  if (etag !== undefined) response.setHeader('etag', etag);
  response.writeHead(200, { 'content-length': 0 }).end();
}

export function copySourceOf({ headers }: S3Request): Target {
  const source = String(headers['x-amz-copy-source']).replace(/^\//, '');
  const [path = '', version] = source.split('?versionId=');
  const slash = path.indexOf('/');
  if (slash < 0 || version !== undefined) {
    throw new S3Error(400, 'InvalidArgument', 'Invalid copy source object key');
  }
  return { bucket: decodePath(path.slice(0, slash)), key: decodePath(path.slice(slash + 1)) };
}

export async function copyObject(
  engine: Engine,
  store: Store,
  request: S3Request,
): Promise<string> {
  const { bucket, key } = copySourceOf(request);
  const replaces = request.headers['x-amz-metadata-directive'] === 'REPLACE';
  const answer = await store.create(request, 'ObjectCreated:Copy', () =>
    engine.call({
      method: 'PUT',
      bucket: request.bucket,
      key: request.key,
      headers: {
        ...(replaces ? keptHeaders(request.headers) : {}),
        'x-amz-copy-source': `${bucket}/${encodeKey(key)}`,
        'x-amz-metadata-directive': replaces ? 'REPLACE' : 'COPY',
      },
    }),
  );
  refuseFailure(answer, key);
  return answer.body.toString();
}

export async function deleteObject(store: Store, request: S3Request): Promise<void> {
  refuseFailure(await store.remove(request), request.key);
}

/**
 * DeleteObjects: one by one, each with its own notification.
 *
 * @param refusal why a key may not be deleted, if so: it then fails alone.
 */
export async function deleteObjects(
  store: Store,
  bucket: string,
  body: Buffer,
  refusal: (key: string) => string | undefined,
): Promise<string> {
  const xml = body.toString();
  const keys = textsOf(xml, 'Key');
  if (keys.length === 0 || keys.length > 1000 || /<VersionId>/.test(xml)) {
    throw new S3Error(
      400,
      'MalformedXML',
      'The XML you provided was not well-formed or did not validate against our published schema',
    );
  }
  const quiet = textsOf(xml, 'Quiet')[0]?.toLowerCase() === 'true';
  const told: string[] = [];
  for (const key of keys) {
    const element = `<Key>${escapeXml(key)}</Key>`;
    const refused = refusal(key);
    if (refused !== undefined) {
      const message = `<Message>${escapeXml(refused)}</Message>`;
      told.push(`<Error>${element}<Code>AccessDenied</Code>${message}</Error>`);
      continue;
    }
    refuseFailure(await store.remove({ bucket, key }), key);
    if (!quiet) told.push(`<Deleted>${element}</Deleted>`);
  }
  return `<?xml version="1.0" encoding="UTF-8"?>\n<DeleteResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${told.join('')}</DeleteResult>`;
}

/** CreateMultipartUpload, UploadPart, CompleteMultipartUpload and AbortMultipartUpload. */
export async function multipart(
  engine: Engine,
  store: Store,
  request: S3Request,
  message: IncomingMessage,
): Promise<EngineAnswer> {
  const { method, bucket, key, headers } = request;
  const query = Object.fromEntries(request.query.filter(([name]) => !/^x-/i.test(name)));
  const call = (body: Buffer, more = {}) =>
    engine.call({ method, bucket, key, query, body, headers: more });
  if (method === 'DELETE') return call(Buffer.alloc(0));
  if (parameter(request, 'uploads') !== undefined) {
    const algorithm = headers['x-amz-checksum-algorithm'];
    const more = algorithm === undefined ? {} : { 'x-amz-checksum-algorithm': algorithm };
    return call(Buffer.alloc(0), { ...keptHeaders(headers), ...more });
  }
  const { chunks, trailers } = bodyOf(message);
  const parts: Buffer[] = [];
  for await (const chunk of chunks) parts.push(chunk);
  const body = Buffer.concat(parts);
  if (method === 'PUT') {
    const checksums = Object.entries({ ...headers, ...trailers }).filter(([name]) =>
      name.startsWith('x-amz-checksum-'),
    );
    return call(body, Object.fromEntries(checksums));
  }
  return store.create(request, 'ObjectCreated:CompleteMultipartUpload', () => call(body));
}

/** What a permitted form uploads. */
export async function postObject(
  store: Store,
  bucket: string,
  { fields, file }: UploadForm,
  response: ServerResponse,
): Promise<void> {
  const key = fields.get('key') ?? '';
  if (key === '') {
    throw new S3Error(400, 'InvalidArgument', "Bucket POST must contain a field named 'key'.");
  }
  const body = { size: file.length, trailers: {}, chunks: toChunks(file) };
  const headers = Object.fromEntries(fields);
  const answer = await store.put({ bucket, key }, 'ObjectCreated:Post', body, headers);
  refuseFailure(answer, key);
  const etag = answer.headers.etag ?? textsOf(answer.body.toString(), 'ETag')[0] ?? '';
  response.setHeader('etag', etag);
  const redirect = fields.get('success_action_redirect');
  if (redirect !== undefined && URL.canParse(redirect)) {
    const location = new URL(redirect);
    for (const [name, value] of Object.entries({ bucket, key, etag })) {
      location.searchParams.set(name, value);
    }
    response.writeHead(303, { location: location.href }).end();
    return;
  }
  const status = fields.get('success_action_status');
  if (status !== '201') {
    response.writeHead(status === '200' ? 200 : 204).end();
    return;
  }
  response.writeHead(201, { 'content-type': 'application/xml' });
  response.end(
    `<?xml version="1.0" encoding="UTF-8"?>\n<PostResponse><Bucket>${bucket}</Bucket><Key>${escapeXml(key)}</Key><ETag>${escapeXml(etag)}</ETag></PostResponse>`,
  );
}

async function* toChunks(file: Buffer): AsyncIterable<Buffer> {
  for (let start = 0; start < file.length; start += 65_536)
    yield file.subarray(start, start + 65_536);
}

function refuseFailure(answer: EngineAnswer, key: string): void {
  if (answer.status >= 300) throw errorOf(answer.status, answer.body, key);
}
