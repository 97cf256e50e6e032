import { describe, expect, test } from 'vitest';
import { callerOf, mayHandle } from '../../../../shared/access/caller.ts';
import { UnauthenticatedError } from '../../../../shared/errors.ts';

const jwt = (claims: Record<string, string>) => ({ kind: 'jwt', claims }) as const;
const stranger = { kind: 'none', sourceIp: '192.0.2.1' } as const;
const signer = { kind: 'iam', accountId: '1', callerId: 'AROAX:session-7' } as const;

test('a token says who it is and what they may', () => {
  expect(
    callerOf(
      'jwt',
      jwt({
        sub: 'olive',
        glimpse_galleries: 'a b',
        glimpse_uploads: 'a',
        glimpse_operator: 'true',
      }),
    ),
  ).toEqual({
    id: 'sub:olive',
    owner: 'sub:olive',
    views: ['a', 'b'],
    uploads: ['a'],
    operator: true,
  });
});

test('a token that says nothing of galleries lets nobody see one', () => {
  expect(callerOf('jwt', jwt({ sub: 'x' }))).toMatchObject({
    views: [],
    uploads: [],
    operator: false,
  });
});

test.for(['false', 'True', '1', '[true]', ''])('%j makes no operator', (glimpse_operator) => {
  expect(callerOf('jwt', jwt({ sub: 'x', glimpse_operator })).operator).toBe(false);
});

describe('a request that comes past the authorizer is refused by the function itself', () => {
  test.for([
    ['jwt', stranger],
    ['jwt', signer],
    ['iam', stranger],
    ['iam', jwt({ sub: 'x' })],
    ['jwt', jwt({})],
    ['jwt', jwt({ sub: '' })],
  ] as const)('%s, %j', ([asks, identity]) => {
    expect(() => callerOf(asks, identity)).toThrow(UnauthenticatedError);
  });
});

test('the sessions of a role are one caller, and see all galleries', () => {
  const caller = callerOf('iam', signer);
  expect(caller).toEqual({
    id: 'iam:1:AROAX',
    owner: 'iam:1:AROAX',
    views: 'all',
    uploads: 'all',
    operator: false,
  });
  expect(callerOf('iam', { ...signer, callerId: 'AROAX:session-8' })).toEqual(caller);
});

test('where everyone is let in, all are one owner, and each address is counted by itself', () => {
  const caller = callerOf('none', stranger);
  expect(caller).toMatchObject({ id: 'ip:192.0.2.1', owner: undefined, views: 'all' });
  expect(mayHandle(caller, {})).toBe(true);
  expect(mayHandle(caller, { owner: 'sub:olive' })).toBe(true);
});

test('an import is its owner’s and an operator’s; one without an owner is an operator’s alone', () => {
  const olive = callerOf('jwt', jwt({ sub: 'olive' }));
  expect(mayHandle(olive, { owner: 'sub:olive' })).toBe(true);
  expect(mayHandle(olive, { owner: 'sub:rhea' })).toBe(false);
  expect(mayHandle(olive, {})).toBe(false);
  const oscar = callerOf('jwt', jwt({ sub: 'oscar', glimpse_operator: 'true' }));
  expect(mayHandle(oscar, { owner: 'sub:olive' })).toBe(true);
  expect(mayHandle(oscar, {})).toBe(true);
});
