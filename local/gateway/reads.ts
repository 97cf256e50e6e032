import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { type Engine, passOn } from './engine.ts';
import { listingQuery, translateListing } from './listing.ts';
import { parameter, type S3Request } from './operation.ts';
import { S3Error } from './s3-error.ts';
import { textsOf } from './xml.ts';

const CONDITIONS =
  /^(range|if-.+|x-amz-checksum-mode|x-amz-object-attributes|x-amz-max-parts|x-amz-part-number-marker)$/;
const HOP_BY_HOP = ['connection', 'keep-alive', 'transfer-encoding', 'date'];

/** GetObject, HeadObject and GetObjectAttributes: passed on as they come. */
export async function readObject(
  engine: Engine,
  request: S3Request,
  response: ServerResponse,
): Promise<void> {
  const { method, bucket, key } = request;
  const query = request.query.filter(([name]) => name === 'partNumber' || name === 'attributes');
  const answer = await engine.open({
    method,
    bucket,
    key,
    query: Object.fromEntries(query),
    headers: only(request.headers, CONDITIONS),
  });
  const status = answer.statusCode ?? 500;
  if (status >= 400) {
    const chunks: Buffer[] = [];
    for await (const chunk of answer) chunks.push(chunk);
    throw errorOf(status, Buffer.concat(chunks), key);
  }
  for (const [name, value] of Object.entries(answer.headers)) {
    if (value !== undefined && !HOP_BY_HOP.includes(name)) response.setHeader(name, value);
  }
  response.setHeader('accept-ranges', 'bytes');
  for (const [name, value] of request.query) {
    if (name.startsWith('response-')) response.setHeader(name.slice('response-'.length), value);
  }
  response.writeHead(status);
  await passOn(answer, response);
}

/** ListObjects and ListObjectsV2. */
export async function listObjects(engine: Engine, request: S3Request): Promise<string> {
  const { bucket, query } = request;
  const answer = await engine.call({ method: 'GET', bucket, query: listingQuery(query) });
  if (answer.status !== 200) throw errorOf(answer.status, answer.body, '');
  return translateListing(answer.body.toString(), parameter(request, 'encoding-type'));
}

/** fauxqs' refusal, told of the key as the client knows it. */
export function errorOf(status: number, body: Buffer, key: string): S3Error {
  const xml = body.toString();
  const [code] = textsOf(xml, 'Code');
  const [message = ''] = textsOf(xml, 'Message');
  const details = key === '' ? {} : { Key: key };
  // An answer to HEAD has no body to tell.
  return new S3Error(
    status,
    code ?? (status === 404 ? 'NoSuchKey' : 'InternalError'),
    message,
    details,
  );
}

function only(headers: IncomingHttpHeaders, names: RegExp): IncomingHttpHeaders {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => names.test(name)));
}
