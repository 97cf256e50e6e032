import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { type ImageItem, isMade } from './image-item.ts';
import { thumbnailKey } from './image-key.ts';
import { type ImagesTable, itemRefused, keyOf } from './images-table.ts';
import { type ThumbnailsBucket, thumbnailExists } from './thumbnails-bucket.ts';
import { recipeOf, type Variant } from './variant.ts';

/** Those of the variants that are recorded as made and of which the bucket has no object. */
export async function findLost(
  bucket: ThumbnailsBucket,
  image: string,
  item: ImageItem,
  variants: readonly Variant[],
): Promise<Variant[]> {
  const { etag } = item;
  if (etag === undefined) return [];
  const made = variants.filter((variant) => isMade(item, variant));
  const there = await Promise.all(
    made.map((variant) => thumbnailExists(bucket, thumbnailKey(image, etag, variant))),
  );
  return made.filter((_, index) => !there[index]);
}

/**
 * Takes the record of a lost thumbnail away, so that it is cold and whoever asks next has it made.
 *
 *   command   read: made ── no object ── forget ✓ ── message ──▶
 *   worker    (another source) read: made ── … ── record ──▶ forget ✗: the record is of another ETag
 *   worker    (at another variant) claim ──────── forget ✗: what it records would bring the lost one back
 *
 * @returns whether it was taken away. Where it was not, the image has changed, or is changing.
 */
export async function forgetLost(
  table: ImagesTable,
  image: string,
  { etag }: Pick<ImageItem, 'etag'>,
  lost: readonly Variant[],
  now: number,
): Promise<boolean> {
  const each = lost.map((variant, index) => ({
    variant,
    name: `#v${index}`,
    recipe: `:r${index}`,
  }));
  try {
    await table.client.send(
      new UpdateCommand({
        TableName: table.name,
        Key: keyOf(image),
        UpdateExpression: `REMOVE ${each.map(({ name }) => `#variants.${name}`).join(', ')}`,
        ConditionExpression: [
          // the objects were looked for under this source's keys
          '#etag = :etag',
          // no worker holds the record that it will write back
          '(attribute_not_exists(#claim) OR #claim.#kind = :queued OR #claim.#until <= :now)',
          // they were not made by another definition since
          ...each.map(({ name, recipe }) => `#variants.${name}.#recipe = ${recipe}`),
        ].join(' AND '),
        ExpressionAttributeNames: {
          '#etag': 'etag',
          '#claim': 'claim',
          '#kind': 'kind',
          '#until': 'until',
          '#variants': 'variants',
          '#recipe': 'recipe',
          ...Object.fromEntries(each.map(({ variant, name }) => [name, variant.name])),
        },
        ExpressionAttributeValues: {
          ':etag': etag,
          ':queued': 'queued',
          ':now': now,
          ...Object.fromEntries(
            each.map(({ variant, recipe }) => [recipe, recipeOf(variant, image)]),
          ),
        },
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      }),
    );
    return true;
  } catch (error) {
    if (itemRefused(error, image) === undefined) throw error;
    return false;
  }
}
