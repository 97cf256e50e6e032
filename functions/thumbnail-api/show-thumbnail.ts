import { thumbHashToDataURL } from 'thumbhash';
import type { ImageView } from '../../shared/thumbnails/image-view.ts';
import type { Variant } from '../../shared/thumbnails/variant.ts';
import { askThumbnails } from './ask-thumbnails.ts';
import type { Service } from './service.ts';

/** A direct URL to be sent to, or what to show meanwhile. */
export type Shown =
  | { kind: 'ready'; url: string }
  | { kind: 'pending' | 'failed'; contentType: string; bytes: Buffer; retryAfterSeconds?: number };

/** For a plain `<img>`: the thumbnail's URL, or a placeholder in its proportions. */
export async function showThumbnail(
  service: Service,
  image: string,
  variant: Variant,
): Promise<Shown> {
  const { images } = await askThumbnails(service, [image], [variant]);
  const [view] = images;
  const shown = view?.variants[variant.name];
  if (view === undefined || shown === undefined) throw new Error(`no answer for ${image}`);
  if (shown.state === 'ready' && shown.url !== undefined) return { kind: 'ready', url: shown.url };
  return {
    kind: view.state === 'failed' ? 'failed' : 'pending',
    ...placeholder(view, variant),
    ...(view.retryAfterMs === undefined
      ? {}
      : { retryAfterSeconds: Math.ceil(view.retryAfterMs / 1000) }),
  };
}

function placeholder(view: ImageView, variant: Variant): { contentType: string; bytes: Buffer } {
  const { thumbhash, color = '#d9d9de' } = view.placeholder;
  if (thumbhash !== undefined) {
    const [, png = ''] = thumbHashToDataURL(Buffer.from(thumbhash, 'base64')).split(',');
    return { contentType: 'image/png', bytes: Buffer.from(png, 'base64') };
  }
  const { width = variant.width, height = variant.height } = view;
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}"><rect width="100%" height="100%" fill="${color}"/></svg>`;
  return { contentType: 'image/svg+xml', bytes: Buffer.from(svg) };
}
