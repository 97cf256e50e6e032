import type { PolicyStatement } from '../template/resources.ts';

// One statement of a policy, ready to be held against calls. What a statement says and this does not
// know is an error: a condition that was passed over would allow what AWS refuses.
// https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_elements.html

/** What AWS knows of a call besides who calls what. By key in lower case, such as `aws:sourcearn`. */
export type Context = Readonly<Record<string, string>>;

export interface Statement {
  readonly effect: 'Allow' | 'Deny';
  /** Whom a resource's policy speaks of; nobody's name is in a role's own. */
  readonly principals: readonly Named[];
  readonly actions: Patterns;
  readonly resources: Patterns;
  holds(context: Context): boolean;
}

/** Such as `{kind: 'Service', name: 's3.amazonaws.com'}`; everyone is `{kind: 'AWS', name: '*'}`. */
export interface Named {
  readonly kind: 'AWS' | 'Service';
  readonly name: string;
}

export interface Patterns {
  /** As the policy writes them. */
  readonly texts: readonly string[];
  covers(text: string): boolean;
  /** Those of `texts` that cover it. */
  covering(text: string): readonly string[];
}

/** The keys that the local cloud has a value for, or knows to be absent. */
const KEYS = ['aws:securetransport', 's3:tlsversion', 'aws:sourceaccount', 'aws:sourcearn'];

type Test = (found: string, wanted: string) => boolean;

const TESTS: Readonly<Record<string, Test>> = {
  StringEquals: (found, wanted) => found === wanted,
  StringLike: (found, wanted) => glob(wanted).test(found),
  ArnEquals: (found, wanted) => glob(wanted).test(found),
  ArnLike: (found, wanted) => glob(wanted).test(found),
  Bool: (found, wanted) => found === wanted.toLowerCase(),
  NumericLessThan: (found, wanted) => Number(found) < Number(wanted),
};

/** @param where names the policy in errors. */
export function readStatement(statement: PolicyStatement, where: string): Statement {
  const { Effect, Principal, Action, NotAction, Resource, NotResource, Condition } = statement;
  if ((Action === undefined) === (NotAction === undefined)) {
    throw new Error(`${where}: expected Action or NotAction, got ${JSON.stringify(statement)}.`);
  }
  if ((Resource === undefined) === (NotResource === undefined)) {
    throw new Error(
      `${where}: expected Resource or NotResource, got ${JSON.stringify(statement)}.`,
    );
  }
  for (const text of [...(Resource ?? []), ...(NotResource ?? [])]) {
    if (!text.includes('${')) continue;
    throw new Error(`${where}: the local cloud does not know policy variables, got ${text}.`);
  }
  return {
    effect: Effect,
    principals: namesOf(Principal ?? {}, where),
    actions: patterns(Action ?? NotAction ?? [], NotAction !== undefined, 'i'),
    resources: patterns(Resource ?? NotResource ?? [], NotResource !== undefined, ''),
    holds: conditionOf(Condition ?? {}, where),
  };
}

function namesOf(principals: Readonly<Record<string, readonly string[]>>, where: string): Named[] {
  return Object.entries(principals).flatMap(([kind, names]) => {
    if (kind !== 'AWS' && kind !== 'Service') {
      throw new Error(`${where}: the local cloud does not know principals of the kind ${kind}.`);
    }
    return names.map((name) => ({ kind, name }));
  });
}

function patterns(texts: readonly string[], negated: boolean, flags: 'i' | ''): Patterns {
  const all = texts.map((text) => ({ text, pattern: glob(text, flags) }));
  const covering = (text: string) =>
    all.filter(({ pattern }) => pattern.test(text)).map((each) => each.text);
  if (!negated) {
    return { texts, covering, covers: (text) => all.some(({ pattern }) => pattern.test(text)) };
  }
  // What is not excluded is covered by the whole exclusion.
  const covers = (text: string) => covering(text).length === 0;
  return { texts, covers, covering: (text) => (covers(text) ? texts : []) };
}

/** `*` is any text, slashes too, and `?` one character. */
function glob(text: string, flags: 'i' | '' = ''): RegExp {
  const escaped = text.replace(/[.+^${}()|[\]\\]/g, '\\$&');
  return new RegExp(`^${escaped.replaceAll('*', '.*').replaceAll('?', '.')}$`, `s${flags}`);
}

/** All tests must hold, each for one of its values. A key that a call does not have fails its test. */
function conditionOf(
  condition: NonNullable<PolicyStatement['Condition']>,
  where: string,
): (context: Context) => boolean {
  const tests = Object.entries(condition).flatMap(([operator, keys]) => {
    const test = Object.hasOwn(TESTS, operator) ? TESTS[operator] : undefined;
    if (test === undefined) {
      throw new Error(`${where}: the local cloud does not know the condition ${operator}.`);
    }
    return Object.entries(keys).map(([name, values]) => {
      const key = name.toLowerCase();
      if (!KEYS.includes(key)) {
        throw new Error(`${where}: the local cloud does not know the condition key ${name}.`);
      }
      return { test, key, values };
    });
  });
  return (context) =>
    tests.every(({ test, key, values }) => {
      const found = context[key];
      return found !== undefined && values.some((wanted) => test(found, wanted));
    });
}
