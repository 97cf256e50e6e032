import { z } from 'zod';

export const ACCOUNT = '000000000000';
export const REGION = 'us-east-1';

/** What a resource is to others: `Ref` of it, and `Fn::GetAtt` by attribute. */
export interface Identity {
  readonly ref: string;
  readonly attributes: Readonly<Record<string, string>>;
}

const PSEUDO_PARAMETERS: Readonly<Record<string, string>> = {
  'AWS::AccountId': ACCOUNT,
  'AWS::Region': REGION,
  'AWS::Partition': 'aws',
  'AWS::URLSuffix': 'amazonaws.com',
  'AWS::StackName': 'Glimpse',
};

const getAtt = z.union([
  z.tuple([z.string(), z.string()]),
  z.string().transform((text): [string, string] => {
    const dot = text.indexOf('.');
    return [text.slice(0, dot), text.slice(dot + 1)];
  }),
]);
const join = z.tuple([z.string(), z.array(z.unknown())]);
const select = z.tuple([z.coerce.number().int(), z.array(z.unknown())]);
const sub = z.union([z.string(), z.tuple([z.string(), z.record(z.string(), z.unknown())])]);

export type Resolve = (value: unknown) => unknown;

/**
 * Replaces a template's functions by what they stand for; an unknown one is an error that names it.
 * @param localise replaces addresses that are others here, in any text.
 */
export function createResolver(
  identities: ReadonlyMap<string, Identity>,
  localise: (text: string) => string,
): Resolve {
  const ref = (name: string): string => {
    const value = PSEUDO_PARAMETERS[name] ?? identities.get(name)?.ref;
    if (value !== undefined) return value;
    throw new Error(`The template refers to ${name}, which the local cloud does not know.`);
  };

  const attribute = ([name, attributeName]: [string, string]): string => {
    const value = identities.get(name)?.attributes[attributeName];
    if (value !== undefined) return value;
    throw new Error(
      `The template asks for ${name}.${attributeName}, which the local cloud does not know.`,
    );
  };

  const substitute = (input: unknown): string => {
    const parsed = sub.parse(input);
    const [text, own] = typeof parsed === 'string' ? [parsed, {}] : parsed;
    return text.replace(/\$\{(!?)([^}]+)\}/g, (_whole, literal: string, name: string) => {
      if (literal) return `\${${name}}`;
      if (Object.hasOwn(own, name)) return String(resolve(Reflect.get(own, name)));
      return name.includes('.') ? attribute(getAtt.parse(name)) : ref(name);
    });
  };

  const functions: Readonly<Record<string, (input: unknown) => unknown>> = {
    Ref: (input) => ref(z.string().parse(input)),
    'Fn::GetAtt': (input) => attribute(getAtt.parse(input)),
    'Fn::Join': (input) => {
      const [separator, parts] = join.parse(input);
      return localise(parts.map((part) => String(resolve(part))).join(separator));
    },
    'Fn::Select': (input) => {
      const [index, values] = select.parse(input);
      return resolve(values[index]);
    },
    'Fn::Sub': (input) => localise(substitute(input)),
  };

  const resolve: Resolve = (value) => {
    if (typeof value === 'string') return localise(value);
    if (Array.isArray(value)) return value.map(resolve);
    if (typeof value !== 'object' || value === null) return value;
    const entries = Object.entries(value);
    const [first] = entries;
    if (first !== undefined && entries.length === 1) {
      const [name, input] = first;
      const run = functions[name];
      if (run !== undefined) return run(input);
      if (name.startsWith('Fn::')) {
        throw new Error(`The template uses ${name}, which the local cloud does not know.`);
      }
    }
    return Object.fromEntries(entries.map(([name, inner]) => [name, resolve(inner)]));
  };

  return resolve;
}
