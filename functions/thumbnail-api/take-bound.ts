import { type Bounded, type Taken, take } from '../../shared/access/bounds.ts';
import { boundKey } from '../../shared/thumbnails/images-table.ts';
import type { Service } from './service.ts';

/** Takes from what the caller may cause in this minute: one conditional write. */
export async function takeBound(
  { table, caller, bounds, now }: Service,
  what: Bounded,
  wanted: number,
): Promise<Taken> {
  const ledger = { ...table, keyOf: boundKey };
  return await take(ledger, caller.id, { what, wanted, most: bounds[what], now: now() });
}
