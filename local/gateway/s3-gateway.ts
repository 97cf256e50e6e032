import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { ANONYMOUS, type Authority, type Call, type Caller } from '../iam/authority.ts';
import type { Identities } from '../iam/identities.ts';
import { REGION } from '../template/intrinsics.ts';
import type { BucketPlan } from '../template/stack.ts';
import { bodyOf } from './body.ts';
import { corsHeaders, preflightHeaders } from './cors.ts';
import type { Engine } from './engine.ts';
import { decodeKey } from './object-key.ts';
import { type Operation, operationOf, parseRequest, type S3Request } from './operation.ts';
import { errorOf, listObjects, readObject } from './reads.ts';
import { callsOf, listing, of } from './s3-calls.ts';
import { accessDenied, requestId, S3Error } from './s3-error.ts';
import type { Verifier } from './sigv4.ts';
import type { Store } from './store.ts';
import { readUploadForm, signerOf } from './upload-form.ts';
import {
  copyObject,
  copySourceOf,
  deleteObject,
  deleteObjects,
  multipart,
  postObject,
  putObject,
} from './writes.ts';
import { escapeXml } from './xml.ts';

export interface GatewayOptions {
  buckets: readonly BucketPlan[];
  engine: Engine;
  store: Store;
  verifier: Verifier;
  identities: Identities;
  authority: Authority;
}

/** S3 as its clients know it, in front of fauxqs. */
export function createS3Gateway(options: GatewayOptions): RequestListener {
  return (message, response) => {
    response.setHeader('x-amz-request-id', requestId());
    response.setHeader('server', 'AmazonS3');
    handle(options, message, response).catch((error: unknown) => {
      // A body that nobody read would hold the connection.
      message.resume();
      refuse(message, response, error);
    });
  };
}

async function handle(
  options: GatewayOptions,
  message: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const request = parseRequest(message);
  const plan = options.buckets.find(({ name }) => name === request.bucket);
  const rules = plan?.cors ?? [];
  if (request.method === 'OPTIONS') {
    response.writeHead(200, preflightHeaders(rules, request.headers)).end();
    return;
  }
  for (const [name, value] of Object.entries(corsHeaders(rules, request.headers, request.method))) {
    response.setHeader(name, value);
  }
  const operation = operationOf(request);
  const callerOf = (signer: string | undefined) =>
    signer === undefined ? ANONYMOUS : options.identities.callerOf(signer);
  // A form carries its signature inside.
  const signer =
    operation === 'PostObject' ? undefined : options.verifier.verify(request, new Date());
  const caller = callerOf(signer);
  if (request.bucket !== '' && plan === undefined) {
    const message = 'The specified bucket does not exist';
    throw new S3Error(404, 'NoSuchBucket', message, { BucketName: request.bucket });
  }
  for (const call of callsOf(operation, request)) assertAllowed(options, caller, call);
  if (operation === 'PostObject') {
    const form = await readUploadForm(message);
    const formSigner = signerOf(form, request.bucket, options.verifier, new Date());
    const call = of('PutObject', request.bucket, form.fields.get('key') ?? '');
    assertAllowed(options, callerOf(formSigner), call);
    return postObject(options.store, request.bucket, form, response);
  }
  if (operation === 'DeleteObjects') {
    const { bucket } = request;
    const refusal = (key: string) =>
      options.authority.refusal(caller, of('DeleteObject', bucket, key));
    const body = await verifiedBody(message);
    return sendXml(response, await deleteObjects(options.store, bucket, body, refusal));
  }
  try {
    await perform(operation, options, request, message, response);
  } catch (error) {
    const missing = error instanceof S3Error && error.code === 'NoSuchKey';
    if (missing && READS.includes(operation)) {
      const { bucket } = operation === 'CopyObject' ? copySourceOf(request) : request;
      const call = listing(bucket);
      // Not told of as a refusal: some ask like this for what may well be missing.
      const refusal = options.authority.wouldRefuse(caller, call);
      if (refusal !== undefined) throw accessDenied(refusal);
      options.authority.refusal(caller, call);
    }
    throw error;
  }
}

/** Operations that tell whether an object is there. */
const READS: readonly Operation[] = [
  'GetObject',
  'HeadObject',
  'GetObjectAttributes',
  'CopyObject',
];

/** @throws S3Error if the caller may not. */
function assertAllowed({ authority }: GatewayOptions, caller: Caller, call: Call): void {
  const refusal = authority.refusal(caller, call);
  if (refusal !== undefined) throw accessDenied(refusal);
}

async function perform(
  operation: Exclude<Operation, 'DeleteObjects' | 'PostObject'>,
  { engine, store, buckets }: GatewayOptions,
  request: S3Request,
  message: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  switch (operation) {
    case 'ListBuckets':
      return sendXml(response, listBuckets(buckets));
    case 'HeadBucket':
      response.writeHead(200, { 'x-amz-bucket-region': REGION }).end();
      return;
    case 'GetBucketLocation':
      return sendXml(
        response,
        '<LocationConstraint xmlns="http://s3.amazonaws.com/doc/2006-03-01/"/>',
      );
    case 'ListObjects':
    case 'ListObjectsV2':
      return sendXml(response, await listObjects(engine, request));
    case 'GetObject':
    case 'HeadObject':
    case 'GetObjectAttributes':
      return readObject(engine, request, response);
    case 'PutObject':
      return putObject(store, request, message, response);
    case 'CopyObject':
      return sendXml(response, await copyObject(engine, store, request));
    case 'DeleteObject':
      await deleteObject(store, request);
      response.writeHead(204).end();
      return;
    case 'CreateMultipartUpload':
    case 'UploadPart':
    case 'CompleteMultipartUpload':
    case 'AbortMultipartUpload': {
      const answer = await multipart(engine, store, request, message);
      if (answer.status >= 300) throw errorOf(answer.status, answer.body, request.key);
      if (answer.headers.etag !== undefined) response.setHeader('etag', answer.headers.etag);
      const xml = answer.body.toString();
      if (xml !== '') return sendXml(response, withKey(xml));
      response.writeHead(answer.status).end();
      return;
    }
    default:
      operation satisfies never;
  }
}

async function verifiedBody(message: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of bodyOf(message).chunks) chunks.push(chunk);
  return Buffer.concat(chunks);
}

function listBuckets(buckets: readonly BucketPlan[]): string {
  const created = new Date(0).toISOString();
  const list = buckets.map(
    ({ name }) => `<Bucket><Name>${name}</Name><CreationDate>${created}</CreationDate></Bucket>`,
  );
  return `<ListAllMyBucketsResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Buckets>${list.join('')}</Buckets></ListAllMyBucketsResult>`;
}

function withKey(xml: string): string {
  return xml.replace(
    /<Key>([0-9a-v]*)<\/Key>/,
    (_element, encoded: string) => `<Key>${escapeXml(decodeKey(encoded))}</Key>`,
  );
}

function sendXml(response: ServerResponse, xml: string): void {
  const body = Buffer.from(
    xml.startsWith('<?xml') ? xml : `<?xml version="1.0" encoding="UTF-8"?>\n${xml}`,
  );
  response.writeHead(200, { 'content-type': 'application/xml', 'content-length': body.length });
  response.end(body);
}

function refuse(message: IncomingMessage, response: ServerResponse, error: unknown): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const known =
    error instanceof S3Error
      ? error
      : new S3Error(500, 'InternalError', error instanceof Error ? error.message : String(error));
  const body = Buffer.from(known.toXml());
  response.writeHead(known.status, {
    'content-type': 'application/xml',
    'content-length': body.length,
  });
  response.end(message.method === 'HEAD' ? undefined : body);
}
