import type { Line } from './line.ts';
import { additions, NOTHING_KNOWN } from './line-item.ts';

/** The state of an account that the processes of this one program have to themselves. */
export function createSoloLine(): Line {
  let state = NOTHING_KNOWN;
  return {
    async take(asks, note) {
      const { interactiveAt, unlessInteractiveSince: since, outdated } = note;
      if (since !== undefined && state.interactiveAt >= since) return { taken: false, state };
      const counts = new Map(state.counts);
      for (const { name, lanes } of additions(asks, note)) {
        counts.set(name, (counts.get(name) ?? 0) + lanes);
      }
      for (const name of outdated) counts.delete(name);
      state = { ...state, counts, interactiveAt: interactiveAt ?? state.interactiveAt };
      return { taken: true, state };
    },
    read: async () => state,
    quiet: async (until) => {
      state = { ...state, quietUntil: Math.max(state.quietUntil, until) };
    },
    yield: async (until) => {
      state = { ...state, yieldUntil: Math.max(state.yieldUntil, until) };
    },
    cut: async (to, at, unlessSince) => {
      if ((state.cut?.at ?? 0) < unlessSince) state = { ...state, cut: { to, at } };
    },
  };
}
