import { test as plainTest } from 'vitest';
import { type Fixture, type Resources, startFixture } from './fixture-stack.ts';
import * as ahead from './stacks/ahead.ts';
import * as functions from './stacks/functions.ts';
import * as httpApi from './stacks/http-api.ts';
import * as mappings from './stacks/mappings.ts';
import * as permissions from './stacks/permissions.ts';
import * as schedules from './stacks/schedules.ts';
import * as stores from './stacks/stores.ts';

// A cloud takes seconds of a processor to start. Whoever needs no cloud with options of its own, and
// does not stop it, has its resources in this one: in `stacks/`, in the file of its name.

const STACKS = [ahead, functions, mappings, permissions, schedules, stores];

export interface SharedCloud extends Fixture {
  /** What functions and services were refused, one line of each kind. */
  readonly denied: readonly string[];
}

/** All of them together. No function is told of a model, and so named that no process of it starts ahead. */
function together(): { resources: Resources; code: Record<string, string> } {
  const api = httpApi.guardedApi({ ...ahead.routes, ...permissions.routes });
  const resources = [{ ...httpApi.echo, ...api }, ...STACKS.map((stack) => stack.resources)];
  const code = [httpApi, ...STACKS].map((stack) => stack.code);
  return { resources: joined<Resources[string]>(resources), code: joined<string>(code) };
}

function joined<T>(parts: readonly Readonly<Record<string, T>>[]): Record<string, T> {
  const all: Record<string, T> = {};
  for (const [name, part] of parts.flatMap((each) => Object.entries(each))) {
    if (name in all) throw new Error(`Two files of stacks/ have a ${name}.`);
    all[name] = part;
  }
  return all;
}

/** Files that run in one process share a cloud, each with resources of its own. */
export const test = plainTest.extend(
  'shared',
  { scope: 'worker' },
  // biome-ignore lint/correctness/noEmptyPattern: how vitest tells that a fixture needs no other
  async ({}, { onCleanup }): Promise<SharedCloud> => {
    const denied: string[] = [];
    const { resources, code } = together();
    const fixture = await startFixture(resources, code, { onDenied: (line) => denied.push(line) });
    onCleanup(fixture.stop);
    return { ...fixture, denied };
  },
);
