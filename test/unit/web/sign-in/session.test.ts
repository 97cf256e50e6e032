import { expect, test } from 'vitest';
import { createSession, readTokens, type Tokens } from '../../../../web/sign-in/session.ts';

const HOUR = 3_600_000;

function session(refresh: (old: Tokens) => Promise<Tokens>) {
  let now = 0;
  const kept: Tokens[] = [];
  const refreshed: string[] = [];
  const first: Tokens = { accessToken: 'first', expiresAt: HOUR, refreshToken: 'r', who: 'Olive' };
  const open = createSession(first, {
    refresh: async (old) => {
      refreshed.push(old.accessToken);
      return await refresh(old);
    },
    keep: (tokens) => kept.push(tokens),
    openWindow: () => {},
    leave: async () => {},
    now: () => now,
  });
  return {
    open,
    kept,
    refreshed,
    pass: (ms: number) => {
      now += ms;
    },
  };
}

const fresh = (accessToken: string): Tokens => ({ accessToken, expiresAt: 9 * HOUR, who: 'Olive' });

test('a token is sent as long as it is good, and renewed shortly before it ends', async () => {
  const { open, kept, refreshed, pass } = session(async () => fresh('second'));
  expect(await open.token()).toBe('first');
  pass(HOUR - 31_000);
  expect(await open.token()).toBe('first');
  expect(refreshed).toEqual([]);
  pass(2000);
  expect(await open.token()).toBe('second');
  expect(kept).toEqual([fresh('second')]);
});

test('all requests that were refused with one token get one other', async () => {
  const { open, refreshed } = session(async () => fresh('second'));
  const asked = await Promise.all([open.token('first'), open.token('first'), open.token()]);
  expect(asked.slice(0, 2)).toEqual(['second', 'second']);
  // One that was refused with the old token after there is a new one does not renew that.
  expect(await open.token('first')).toBe('second');
  expect(refreshed).toEqual(['first']);
});

test('where it cannot be renewed, what asks waits until somebody has signed in again', async () => {
  const { open, kept } = session(async () => {
    throw new Error('invalid_grant');
  });
  let got: string | undefined;
  const waiting = open.token('first').then((token) => {
    got = token;
  });
  await new Promise((done) => setTimeout(done, 5));
  expect([got, open.state]).toEqual([undefined, { who: 'Olive', ended: true, refused: false }]);
  open.resume({ ...fresh('third'), who: 'Rhea' });
  await waiting;
  expect([got, open.state]).toEqual(['third', { who: 'Rhea', ended: false, refused: false }]);
  expect(kept.map(({ accessToken }) => accessToken)).toEqual(['third']);
});

test('a sign-in that is not accepted is known as such until one is', async () => {
  const { open } = session(async () => fresh('second'));
  open.answered(false);
  await open.token('first');
  expect(open.state).toMatchObject({ ended: false, refused: true });
  open.answered(true);
  expect(open.state.refused).toBe(false);
  open.answered(false);
  open.resume(fresh('third'));
  expect(open.state.refused).toBe(false);
});

test('what a tab keeps is read back, and what is something else is nothing', () => {
  const tokens: Tokens = {
    accessToken: 'a',
    expiresAt: 1,
    refreshToken: 'r',
    idToken: 'i',
    who: 'w',
  };
  expect(readTokens(JSON.stringify(tokens))).toEqual(tokens);
  expect(readTokens('{"accessToken":"a","expiresAt":1}')).toEqual({
    accessToken: 'a',
    expiresAt: 1,
  });
  for (const stored of [null, '', 'null', '{}', '{"accessToken":1,"expiresAt":1}']) {
    expect(readTokens(stored)).toBeUndefined();
  }
});
