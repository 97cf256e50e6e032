import { expect } from 'vitest';
import { z } from 'zod';
import { signedIn } from '../callers.ts';
import { put, settled, type Target, thumbnails, until } from './target.ts';

// Every route, and what it answers to whom.

/** Tokens, by whose they are. */
export interface Tokens {
  /** Signed by others, expired, for somebody else, or none: nobody's. */
  worthless: Readonly<Record<string, string>>;
  /** Sees and uploads to `harbour`, and has an import. */
  owner: string;
  /** Sees `harbour`. */
  reader: string;
  /** Of another tenant, with a gallery `orchard`. */
  tenant: string;
  /** Looks after all imports, and sees no gallery. */
  operator: string;
}

type Role = 'owner' | 'reader' | 'tenant' | 'operator';
const ROLES = ['owner', 'reader', 'tenant', 'operator'] as const satisfies readonly Role[];

interface Case {
  route: string;
  path: string;
  body?: unknown;
  /** What is told beside the status. */
  tells?: (answer: Response) => Promise<string>;
  /** In the order of ROLES. */
  expected: readonly [string, string, string, string];
}

const HARBOUR = 'harbour/boats/one.jpg';
const ORCHARD = 'orchard/one.jpg';

const listOf = (name: string, of: string) => async (answer: Response) => {
  if (!answer.ok) return '';
  const body = z
    .looseObject({ [name]: z.array(z.record(z.string(), z.unknown())) })
    .parse(await answer.json());
  return (body[name] ?? []).map((each) => String(each[of])).join(' ');
};
const states = listOf('images', 'state');
const shown = async ({ headers }: Response) =>
  headers.has('location') ? 'the thumbnail' : (headers.get('x-glimpse-state') ?? '');

const query = (parameters: Record<string, string>) => new URLSearchParams(parameters).toString();
const CARD = query({ image: HARBOUR, variant: 'card' });
const upload = { image: 'harbour/new.jpg', contentType: 'image/jpeg', bytes: 9 };

/** @param id an import of the owner's, which waits for its file */
const casesOf = (id: string): Case[] => [
  {
    route: 'GET /galleries',
    path: '/galleries',
    tells: listOf('galleries', 'gallery'),
    expected: ['200 harbour/boats', '200 harbour/boats', '200 orchard', '200'],
  },
  {
    route: 'GET /images',
    path: `/images?${query({ gallery: 'harbour/boats', variant: 'card' })}`,
    tells: states,
    expected: ['200 ready', '200 ready', '200', '200'],
  },
  {
    route: 'POST /thumbnails',
    path: '/thumbnails',
    body: { images: [HARBOUR, ORCHARD, 'orchard/none.jpg'], variants: ['card'] },
    tells: states,
    expected: [
      '200 ready failed failed',
      '200 ready failed failed',
      '200 failed ready failed',
      '200 failed failed failed',
    ],
  },
  {
    route: 'GET /thumbnail',
    path: `/thumbnail?${CARD}`,
    tells: shown,
    expected: ['302 the thumbnail', '302 the thumbnail', '200 failed', '200 failed'],
  },
  {
    route: 'GET /img',
    path: `/img?${CARD}`,
    tells: shown,
    expected: ['302 the thumbnail', '302 the thumbnail', '200 failed', '200 failed'],
  },
  {
    route: 'POST /uploads',
    path: '/uploads',
    body: upload,
    expected: ['200', '403', '403', '403'],
  },
  {
    route: 'POST /imports',
    path: '/imports',
    body: { name: 'own.csv', mode: 'bulk' },
    expected: ['201', '201', '201', '201'],
  },
  {
    route: 'GET /imports',
    path: '/imports?limit=50',
    tells: listOf('imports', 'name'),
    // One was there before, and each has made one of their own since.
    expected: ['200 own.csv first.csv', '200 own.csv', '200 own.csv', '200 own.csv'],
  },
  {
    route: 'GET /imports',
    path: '/imports?of=everyone&limit=50',
    tells: async (answer) =>
      (await listOf('imports', 'importId')(answer)).includes(id) ? 'it' : '',
    expected: ['403', '403', '403', '200 it'],
  },
  ...(
    [
      ['GET', '', '200'],
      ['GET', '/rows', '200'],
      ['GET', '/export', '409'],
      ['POST', '/estimate', '409'],
      ['POST', '/resume', '200'],
      ['POST', '/pause', '200'],
      ['POST', '/retry', '409'],
      ['POST', '/cancel', '200'],
    ] as const
  ).map(
    ([method, verb, status]): Case => ({
      route: `${method} /imports/{id}${verb}`,
      path: `/imports/${id}${verb}`,
      expected: [status, '404', '404', status],
    }),
  ),
  { route: 'GET /fleet', path: '/fleet', expected: ['200', '200', '200', '200'] },
  { route: '$default', path: '/nothing', expected: ['404', '404', '404', '404'] },
];

async function call(
  { api }: Target,
  { route, path, body }: Pick<Case, 'route' | 'path' | 'body'>,
  token: string | undefined,
): Promise<Response> {
  const inAddress = route === 'GET /img' && token !== undefined;
  const method = route.startsWith('POST') ? 'POST' : 'GET';
  return await fetch(`${api}${path}${inAddress ? `&token=${token}` : ''}`, {
    method,
    redirect: 'manual',
    ...(token === undefined || inAddress ? {} : { headers: signedIn({ token }) }),
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
}

/** @returns the routes that were asked. */
export async function everyRouteAnswersEachAsItShould(
  target: Target,
  tokens: Tokens,
  picture: Uint8Array,
): Promise<string[]> {
  const pictures = [HARBOUR, ORCHARD];
  for (const image of pictures) await put(target, image, picture);
  await until(() => thumbnails(target, pictures), settled);
  const { importId } = z
    .object({ importId: z.string() })
    .parse(
      await (
        await call(
          target,
          { route: 'POST', path: '/imports', body: { name: 'first.csv', mode: 'bulk' } },
          tokens.owner,
        )
      ).json(),
    );
  const cases = casesOf(importId);

  for (const [whose, token] of [
    ['nobody', undefined] as const,
    ...Object.entries(tokens.worthless),
  ]) {
    for (const each of cases) {
      const answer = await call(target, each, token);
      expect([whose, each.path, answer.status]).toEqual([whose, each.path, 401]);
      expect(await answer.json()).toEqual({ message: 'Unauthorized' });
    }
  }
  for (const each of cases) {
    const seen: string[] = [];
    for (const role of ROLES) {
      const answer = await call(target, each, tokens[role]);
      const told = await each.tells?.(answer);
      seen.push(`${answer.status} ${told ?? ''}`.trim());
    }
    expect([each.route, each.path, ...seen]).toEqual([each.route, each.path, ...each.expected]);
  }
  await anothersIsAsNone(target, tokens, importId);
  return [...new Set(cases.map(({ route }) => route))];
}

/** Not even a word of the answer tells that there is one. */
async function anothersIsAsNone(target: Target, tokens: Tokens, importId: string): Promise<void> {
  const none = `${importId.slice(0, -4)}0000`;
  for (const [method, verb] of [
    ['GET', ''],
    ['POST', '/cancel'],
    ['POST', '/estimate'],
  ] as const) {
    const ask = async (id: string) => {
      const answer = await call(
        target,
        { route: method, path: `/imports/${id}${verb}` },
        tokens.tenant,
      );
      return (await answer.text()).replaceAll(id, 'ID');
    };
    expect(await ask(importId)).toBe(await ask(none));
  }
}
