import { ListObjectsV2Command } from '@aws-sdk/client-s3';
import { galleryPrefix, splitImage } from '../../shared/thumbnails/image-key.ts';
import { listedKey, type Originals } from '../../shared/thumbnails/originals.ts';

/** The first galleries directly below one, by their whole names. */
export async function galleriesBelow(
  { client, bucket }: Originals,
  gallery: string,
  most: number,
): Promise<string[]> {
  const { CommonPrefixes = [], EncodingType } = await client.send(
    new ListObjectsV2Command({
      Bucket: bucket,
      Prefix: galleryPrefix(gallery),
      Delimiter: '/',
      // A folder's own marker may be among them.
      MaxKeys: most + 1,
      EncodingType: 'url',
    }),
  );
  return CommonPrefixes.map(
    ({ Prefix = '' }) => splitImage(listedKey(Prefix, EncodingType)).gallery,
  ).slice(0, most);
}
