import { afterEach, expect, test, vi } from 'vitest';
import { createApiClient } from '../../../../web/shell/api-client.ts';

afterEach(() => vi.unstubAllGlobals());

/** An API that takes one token, and what it was asked. */
function api(good: string) {
  const sent: (string | null)[] = [];
  vi.stubGlobal('fetch', async (_url: string, init: RequestInit) => {
    const authorization = new Headers(init.headers).get('authorization');
    sent.push(authorization);
    const status = authorization === `Bearer ${good}` ? 200 : 401;
    return new Response(JSON.stringify({ body: init.body ?? null, message: 'Unauthorized' }), {
      status,
    });
  });
  return sent;
}

const post = { method: 'POST', body: 'typed' };

test('a request that is refused is sent once more with another token, whole', async () => {
  const sent = api('second');
  const bearer = { token: async (refused?: string) => (refused === 'first' ? 'second' : 'first') };
  const { ask } = createApiClient('http://api', bearer);
  expect(await ask('/uploads', ({ body }) => body, post)).toBe('typed');
  expect(sent).toEqual(['Bearer first', 'Bearer second']);
});

test('one that is refused again is told of as such, and not sent for ever', async () => {
  const sent = api('none');
  const told: boolean[] = [];
  const { ask } = createApiClient('http://api', {
    token: async () => 'first',
    answered: (accepted) => told.push(accepted),
  });
  await expect(ask('/uploads', ({ body }) => body, post)).rejects.toMatchObject({
    status: 401,
    message: 'Your sign-in is not accepted here.',
  });
  expect(told).toEqual([false]);
  expect(sent).toHaveLength(2);
});

test('where nobody has to sign in no token is sent', async () => {
  const sent = api('none');
  await expect(createApiClient('http://api').ask('/', () => 1)).rejects.toMatchObject({
    status: 401,
  });
  expect(sent).toEqual([null]);
});
