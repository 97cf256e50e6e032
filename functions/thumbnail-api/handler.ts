import { Logger } from '@aws-lambda-powertools/logger';
import { type AuthenticationKind, callerOf } from '../../shared/access/caller.ts';
import { createEmitter } from '../../shared/metrics/emitter.ts';
import { THUMBNAIL_METRICS } from '../../shared/metrics/thumbnails.ts';
import { createDynamo, createS3, createSqs } from '../../shared/runtime/clients.ts';
import { type HttpAnswer, type HttpRequest, httpHandler } from '../../shared/runtime/http-stack.ts';
import { once } from '../../shared/runtime/once.ts';
import { parse } from '../../shared/runtime/parse-request.ts';
import { createUploadFormSigner } from '../../shared/signing/upload-form.ts';
import { createUrls } from '../../shared/thumbnails/delivery.ts';
import { parseImageKey, splitImage } from '../../shared/thumbnails/image-key.ts';
import { askThumbnails } from './ask-thumbnails.ts';
import { createUpload } from './create-upload.ts';
import { readEnv } from './env.ts';
import { listGalleries } from './list-galleries.ts';
import { listImages } from './list-images.ts';
import * as request from './request.ts';
import type { Service } from './service.ts';
import { showThumbnail } from './show-thumbnail.ts';

const logger = new Logger();
const metrics = createEmitter(THUMBNAIL_METRICS);

// Called by AWS: the HTTP API's routes.

export const handler = httpHandler(
  {
    'GET /galleries': getGalleries,
    'GET /images': getImages,
    'POST /thumbnails': postThumbnails,
    'GET /thumbnail': getThumbnail,
    'GET /img': getImg,
    'POST /uploads': postUploads,
  },
  { logger, metrics },
);

// Built on cold start.

/** Seconds in which an upload must have begun: enough for a person's click, and little to hoard. */
const UPLOAD_LIFETIME = 300;

const shared = once((): Omit<Service, 'caller'> & { authentication: AuthenticationKind } => {
  const env = readEnv();
  const s3 = createS3();
  const credentials = () => s3.config.credentials();
  const place = (bucket: string) => ({
    region: env.AWS_REGION,
    bucket,
    ...(env.AWS_ENDPOINT_URL_S3 === undefined ? {} : { endpoint: env.AWS_ENDPOINT_URL_S3 }),
  });
  return {
    authentication: env.AUTHENTICATION,
    bounds: env.BOUNDS,
    table: { client: createDynamo(), name: env.IMAGES_TABLE },
    originals: { client: s3, bucket: env.ORIGINALS_BUCKET },
    queue: { client: createSqs(), url: env.ON_DEMAND_QUEUE_URL },
    variants: env.VARIANTS,
    urls: createUrls(env.DELIVERY, place(env.THUMBNAILS_BUCKET), credentials),
    uploads: {
      maxBytes: env.MAX_BYTES,
      sign: createUploadFormSigner(place(env.ORIGINALS_BUCKET), UPLOAD_LIFETIME),
      credentials,
    },
    now: Date.now,
    // Nothing is a figure too, in shares.
    count: (metric, value) => metrics.add(metric, value),
    warn: (message, details) => logger.warn(message, details),
  };
});

// Done for each request.

function serviceFor({ identity }: HttpRequest): Service {
  const { authentication, ...service } = shared();
  return { ...service, caller: callerOf(authentication, identity) };
}

async function getGalleries(asked: HttpRequest): Promise<HttpAnswer> {
  const service = serviceFor(asked);
  const { cursor } = parse(request.galleriesQuery, 'query', asked.query);
  return { status: 200, body: await listGalleries(service, cursor) };
}

async function getImages(given: HttpRequest): Promise<HttpAnswer> {
  const service = serviceFor(given);
  const { variant, ...asked } = parse(request.imagesQuery, 'query', given.query);
  return {
    status: 200,
    body: await answering(service, asked.gallery, (counting) =>
      listImages(counting, {
        ...asked,
        cursor: asked.cursor,
        variant: request.chooseVariant(variant, service.variants),
      }),
    ),
  };
}

/** Measures how long an answer takes that may have to set work going, and whether it had to. */
async function answering<T>(
  { count, ...rest }: Service,
  gallery: string,
  work: (counting: Service) => Promise<T>,
): Promise<T> {
  const began = performance.now();
  let misses = 0;
  const answer = await work({
    ...rest,
    count: (metric, value) => {
      if (metric === 'Misses') misses += value;
      count(metric, value);
    },
  });
  const ms = performance.now() - began;
  metrics.add('AnswerTime', ms, { answer: misses > 0 ? 'cold' : 'warm' });
  // Galleries are without end, so they are no dimension: a query over the logs tells them apart.
  if (misses > 0) logger.info('cold images', { gallery, misses, ms });
  return answer;
}

async function postThumbnails(given: HttpRequest): Promise<HttpAnswer> {
  const service = serviceFor(given);
  const asked = parse(request.thumbnailsBody, 'body', given.body);
  const images = asked.images.map(parseImageKey);
  const wanted = request.chooseVariants(asked.variants, service.variants);
  const [first = ''] = images;
  const answer = await answering(service, splitImage(first).gallery, (counting) =>
    askThumbnails(counting, images, wanted),
  );
  return { status: 200, body: answer };
}

async function getThumbnail(given: HttpRequest): Promise<HttpAnswer> {
  const service = serviceFor(given);
  return await thumbnail(service, parse(request.thumbnailQuery, 'query', given.query));
}

/** The authorizer has read the token. */
async function getImg(given: HttpRequest): Promise<HttpAnswer> {
  const service = serviceFor(given);
  const { token: _, ...query } = given.query;
  return await thumbnail(service, parse(request.thumbnailQuery, 'query', query));
}

async function thumbnail(
  service: Service,
  asked: { image: string; variant: string },
): Promise<HttpAnswer> {
  const variant = request.chooseVariant(asked.variant, service.variants);
  const image = parseImageKey(asked.image);
  const shown = await answering(service, splitImage(image).gallery, (counting) =>
    showThumbnail(counting, image, variant),
  );
  if (shown.kind === 'ready') {
    // Shorter than any signed URL lives, so that the redirect never leads to one that has expired.
    return {
      status: 302,
      headers: {
        location: shown.url,
        'cache-control': 'private, max-age=60',
        vary: 'authorization',
      },
    };
  }
  return {
    status: 200,
    headers: {
      'content-type': shown.contentType,
      'cache-control': 'no-store',
      'x-glimpse-state': shown.kind,
      ...(shown.retryAfterSeconds === undefined
        ? {}
        : { 'retry-after': String(shown.retryAfterSeconds) }),
    },
    body: shown.bytes,
  };
}

async function postUploads(given: HttpRequest): Promise<HttpAnswer> {
  const service = serviceFor(given);
  const asked = parse(request.uploadBody, 'body', given.body);
  const upload = { ...asked, image: parseImageKey(asked.image) };
  return { status: 200, body: await createUpload(service, upload) };
}
