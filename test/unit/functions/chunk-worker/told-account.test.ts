import { expect, test } from 'vitest';
import { createMeter } from '../../../../functions/chunk-worker/meter.ts';
import type { ToldAccount } from '../../../../shared/fleet/usage-item.ts';

test('what the last answer says of the account is written with the usage', async () => {
  const written: ToldAccount[] = [];
  let now = 1_800_000_000_000;
  const meter = createMeter({
    write: async (_usage, _now, told) => {
      written.push(told);
    },
    storeOps: () => 0,
    now: () => now,
    random: () => 0,
    onError: () => {},
  });
  const tokens = { inputTokens: 1, outputTokens: 1 };
  const headers = (requests: string) => ({ 'x-ratelimit-limit-requests': requests });
  const write = async () => {
    now += 10_000;
    await meter.writeAll(0);
    return written.at(-1);
  };

  meter.answered(800, tokens);
  expect(await write()).toEqual({ requests: undefined, tokens: undefined });
  meter.answered(800, tokens, headers('5000'));
  meter.erred(10, true, { ...headers('3000'), 'x-ratelimit-limit-tokens': '90000' });
  expect(await write()).toEqual({ requests: 3000, tokens: 90_000 });
  // An error without headers takes nothing back.
  meter.erred(10, false);
  expect(await write()).toEqual({ requests: 3000, tokens: 90_000 });
});
