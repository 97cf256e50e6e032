import { endSending } from '../../shared/imports/change-state.ts';
import { readImport } from '../../shared/imports/imports-table.ts';
import { openPages } from '../../shared/imports/open-chunks.ts';
import { sendChunks } from '../../shared/imports/send-chunks.ts';
import type { Desk } from './desk.ts';

/**
 * Sends every chunk in which something is left to do. Some may be on the queue already or be worked
 * on: a message too many finds its chunk claimed or closed, one too few would be missed for ever.
 *
 * @returns how many messages were sent
 * @throws UnsentError if the queue does not take some: all are sent again then
 */
export async function sendAll(desk: Desk, importId: string): Promise<number> {
  const item = await readImport(desk.table, importId);
  if (item?.state !== 'running') return 0;
  let sent = 0;
  for await (const { chunks } of openPages(desk.table, item)) {
    const works = chunks.map((chunk) => ({ importId, chunk, round: item.round }));
    await sendChunks(desk.queues[item.mode], works);
    sent += works.length;
  }
  if (item.sendingSince !== undefined) {
    await endSending(desk.table, importId, { since: item.sendingSince, now: desk.now() });
  }
  return sent;
}
