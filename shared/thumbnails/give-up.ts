import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { padSequencer, type Work } from '../messages/thumbnail-work.ts';
import { RETRY_AFTER } from './failure.ts';
import { splitImage } from './image-key.ts';
import { addGallery, type ImagesTable, itemRefused, keyOf } from './images-table.ts';

/**
 * Records that work was given up after its last retry. What S3 told of and was never looked at
 * makes the item unknown again, so that the next viewer's request looks afresh instead of showing
 * an earlier source for ever. Does nothing where a worker is at the image, or saw a newer event.
 *
 * The gallery is listed after the record: a letter that says nothing says nothing of a gallery, and one
 * whose reader dies in between comes again.
 */
export async function giveUp(table: ImagesTable, work: Work, now: number): Promise<void> {
  const fromS3 = work.kind !== 'wanted';
  try {
    await table.client.send(
      new UpdateCommand({
        TableName: table.name,
        Key: keyOf(work.image),
        UpdateExpression: fromS3
          ? 'SET #failure = :failure, #sequencer = :sequencer REMOVE #claim, #missedAt, #etag, #variants'
          : 'SET #failure = :failure REMOVE #claim, #missedAt',
        ConditionExpression: [
          // nobody is at it now
          '(attribute_not_exists(#claim) OR #claim.#kind = :queued OR #claim.#until <= :now)',
          // no newer event was seen
          ...(fromS3 ? ['(attribute_not_exists(#sequencer) OR #sequencer <= :sequencer)'] : []),
        ].join(' AND '),
        ExpressionAttributeNames: {
          '#claim': 'claim',
          '#missedAt': 'missedAt',
          '#kind': 'kind',
          '#until': 'until',
          '#failure': 'failure',
          ...(fromS3
            ? { '#sequencer': 'sequencer', '#etag': 'etag', '#variants': 'variants' }
            : {}),
        },
        ExpressionAttributeValues: {
          ':queued': 'queued',
          ':now': now,
          ':failure': {
            class: 'transient',
            reason: 'every attempt failed; the worker’s log says how',
            retryAt: now + RETRY_AFTER.transient,
          },
          ...(fromS3 ? { ':sequencer': padSequencer(work.sequencer) } : {}),
        },
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      }),
    );
  } catch (error) {
    if (itemRefused(error, work.image) === undefined) throw error;
    return;
  }
  if (work.kind !== 'removed') await addGallery(table, splitImage(work.image).gallery);
}
