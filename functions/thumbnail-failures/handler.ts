import { Logger } from '@aws-lambda-powertools/logger';
import { parseMessage } from '../../shared/messages/thumbnail-work.ts';
import { createEmitter } from '../../shared/metrics/emitter.ts';
import { THUMBNAIL_METRICS } from '../../shared/metrics/thumbnails.ts';
import { createDynamo } from '../../shared/runtime/clients.ts';
import { once } from '../../shared/runtime/once.ts';
import { type Delivery, queueHandler } from '../../shared/runtime/queue-stack.ts';
import { giveUp } from '../../shared/thumbnails/give-up.ts';
import { readEnv } from './env.ts';

const logger = new Logger();
const metrics = createEmitter(THUMBNAIL_METRICS);

// Called by AWS: the dead-letter queues of both thumbnail queues.

export const handler = queueHandler({
  logger,
  metrics,
  process: recordFailure,
  about: (body) => ({ images: parseMessage(body).map(({ image }) => image) }),
  needsMs: 3000,
});

// Built on cold start.

const table = once(() => ({ client: createDynamo(), name: readEnv().IMAGES_TABLE }));

// Done for each record.

async function recordFailure({ body }: Delivery): Promise<void> {
  for (const work of parseMessage(body)) {
    await giveUp(table(), work, Date.now());
    metrics.add('ImagesGivenUp', 1);
    logger.error('an image was given up', { image: work.image, work: work.kind });
  }
}
