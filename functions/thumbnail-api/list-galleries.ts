import * as z from 'zod';
import { decodeCursor, encodeCursor } from '../../shared/runtime/parse-request.ts';
import { readGalleries } from '../../shared/thumbnails/images-table.ts';
import { keyText } from './request.ts';
import type { Service } from './service.ts';

const PAGE = 100;

const cursorSchema = z.strictObject({ after: keyText });

export async function listGalleries(
  service: Service,
  cursor: string | undefined,
): Promise<{ galleries: { gallery: string }[]; cursor?: string }> {
  const from = cursor === undefined ? {} : decodeCursor(cursorSchema, cursor);
  const { galleries, next } = await readGalleries(service.table, {
    ...from,
    limit: PAGE,
    within: service.caller.views,
  });
  return {
    galleries: galleries.map((gallery) => ({ gallery })),
    ...(next === undefined ? {} : { cursor: encodeCursor({ after: next }) }),
  };
}
