import type { Bounds } from '../shared/access/bounds.ts';
import type { Caller } from '../shared/access/caller.ts';

/** Somebody who may do everything. */
export const EVERYTHING: Caller = {
  id: 'sub:tester',
  owner: 'sub:tester',
  views: 'all',
  uploads: 'all',
  operator: true,
};

/** More than any test causes. */
export const AMPLE: Bounds = { coldImages: 1_000_000, listings: 1_000_000, imports: 1_000_000 };

/** What a request brings to show who it is of. */
export const signedIn = ({ token = '' }: { token?: string }): { authorization: string } => ({
  authorization: `Bearer ${token}`,
});
