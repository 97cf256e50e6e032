import { activeImports } from '../../shared/imports/create-import.ts';
import { type Finding, type Reaper, reapImport } from './reap-import.ts';

export interface Round {
  /** Epoch milliseconds after which no further import is looked at. */
  until: number;
  sleep: (ms: number) => Promise<unknown>;
  found: (importId: string, finding: Finding) => void;
  /** One import must not keep the reaper from the others. */
  failed: (importId: string, error: unknown) => void;
}

/** Milliseconds in which other claims lapse, too: workers began together. */
const TOGETHER = 500;

/**
 * Looks after all imports once; and after one that runs again when there may be something to find,
 * such as the first claim that has lapsed. Those that live have renewed theirs by then, and what is left by one that has
 * ended need not wait for the next round:
 *
 *   worker   renewed ─ renewed ─ killed
 *   reaper        look ·····················35 s after the last renewal·· look: sent again
 *
 * @returns how many imports ran when they were first looked at, and how many had stalled
 */
export async function lookAfter(
  reaper: Reaper,
  round: Round,
): Promise<{ running: number; stalled: number }> {
  const running = new Set<string>();
  const stalled = new Set<string>();
  const counts = () => ({ running: running.size, stalled: stalled.size });
  const next = new Map<string, number>();
  const look = async (importId: string) => {
    next.delete(importId);
    try {
      const { state, findings, againAt } = await reapImport(reaper, importId);
      if (state === 'running') running.add(importId);
      for (const finding of findings) round.found(importId, finding);
      if (findings.length > 0) stalled.add(importId);
      if (againAt !== undefined) next.set(importId, againAt + TOGETHER);
    } catch (error) {
      round.failed(importId, error);
    }
  };
  for await (const importId of activeImports(reaper.table)) {
    // The next run begins where the index begins, and what was stalled is less then.
    if (reaper.now() > round.until) return counts();
    await look(importId);
  }
  while (next.size > 0) {
    const at = Math.min(...next.values());
    if (at > round.until) break;
    if (at > reaper.now()) await round.sleep(at - reaper.now());
    const due = [...next].filter(([, when]) => when <= reaper.now());
    for (const [importId] of due) {
      if (reaper.now() > round.until) return counts();
      await look(importId);
    }
  }
  return counts();
}
