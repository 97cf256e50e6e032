import type { Series } from './metric-store.ts';

// CloudWatch's metric math, as much of it as the template uses: numbers, the ids of metrics, + - * /,
// comparisons, AND, OR, IF, FILL with a number, PERIOD. Anything else is an error that names it.

type Value = number | Series;

export interface Scope {
  /** By id. */
  readonly series: ReadonlyMap<string, Series>;
  /** Seconds. */
  readonly period: number;
}

type Evaluate = (scope: Scope) => Value;

interface Parser {
  peek(): string | undefined;
  take(): string | undefined;
  expect(token: string): void;
  fail(what: string): never;
}

const TOKEN = /\s*(?:(\d+(?:\.\d+)?|[A-Za-z_]\w*|>=|<=|==|!=|&&|\|\||[-+*/()<>,])|(\S))/y;

/** @throws an error that names what is not known */
export function parseExpression(text: string): { evaluate: Evaluate; ids: readonly string[] } {
  const tokens = tokensOf(text);
  const ids = new Set<string>();
  let at = 0;
  const parser: Parser = {
    peek: () => tokens[at],
    take: () => tokens[at++],
    expect(token) {
      if (tokens[at] !== token) parser.fail(tokens[at] ?? 'its end');
      at += 1;
    },
    fail(what) {
      throw new Error(`The local cloud does not know ${what} in the expression ${text}.`);
    },
  };
  const evaluate = parseOr(parser, ids);
  const rest = parser.peek();
  if (rest !== undefined) parser.fail(rest);
  return { evaluate, ids: [...ids] };
}

function tokensOf(text: string): string[] {
  const tokens: string[] = [];
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < text.trimEnd().length) {
    const found = TOKEN.exec(text);
    const token = found?.[1];
    if (token === undefined) {
      throw new Error(
        `The local cloud does not know ${found?.[2] ?? 'what follows'} in the expression ${text}.`,
      );
    }
    tokens.push(token);
  }
  return tokens;
}

type Operator = (one: number, other: number) => number;

const truth = (is: boolean): number => (is ? 1 : 0);

const LEVELS: readonly Readonly<Record<string, Operator>>[] = [
  { OR: (a, b) => truth(a !== 0 || b !== 0), '||': (a, b) => truth(a !== 0 || b !== 0) },
  { AND: (a, b) => truth(a !== 0 && b !== 0), '&&': (a, b) => truth(a !== 0 && b !== 0) },
  {
    '>=': (a, b) => truth(a >= b),
    '<=': (a, b) => truth(a <= b),
    '>': (a, b) => truth(a > b),
    '<': (a, b) => truth(a < b),
    '==': (a, b) => truth(a === b),
    '!=': (a, b) => truth(a !== b),
  },
  { '+': (a, b) => a + b, '-': (a, b) => a - b },
  { '*': (a, b) => a * b, '/': (a, b) => a / b },
];

const parseOr = (parser: Parser, ids: Set<string>): Evaluate => parseLevel(parser, ids, 0);

/** The operators of a level bind less than those of the next. */
function parseLevel(parser: Parser, ids: Set<string>, level: number): Evaluate {
  const operators = LEVELS[level];
  if (operators === undefined) return parsePrimary(parser, ids);
  let left = parseLevel(parser, ids, level + 1);
  for (;;) {
    const token = parser.peek();
    const operator =
      token !== undefined && Object.hasOwn(operators, token) ? operators[token] : undefined;
    if (operator === undefined) return left;
    parser.take();
    const [one, other] = [left, parseLevel(parser, ids, level + 1)];
    left = (scope) => pointwise(operator, one(scope), other(scope));
  }
}

function parsePrimary(parser: Parser, ids: Set<string>): Evaluate {
  const token = parser.take();
  if (token === undefined) return parser.fail('its end');
  if (token === '(') {
    const inner = parseOr(parser, ids);
    parser.expect(')');
    return inner;
  }
  if (/^\d/.test(token)) {
    const number = Number(token);
    return () => number;
  }
  if (parser.peek() === '(') return parseCall(parser, ids, token);
  // Ids begin in lower case: what does not is a word of the language.
  if (!/^[a-z]/.test(token)) return parser.fail(token);
  ids.add(token);
  return ({ series }) => series.get(token) ?? [];
}

function parseCall(parser: Parser, ids: Set<string>, name: string): Evaluate {
  parser.expect('(');
  const given = [parseOr(parser, ids)];
  while (parser.peek() === ',') {
    parser.take();
    given.push(parseOr(parser, ids));
  }
  parser.expect(')');
  const [first, second, third, another] = given;
  if (name === 'PERIOD' && second === undefined) return ({ period }) => period;
  if (name === 'FILL' && first !== undefined && second !== undefined && third === undefined) {
    return (scope) => filled(first(scope), second(scope));
  }
  if (
    name === 'IF' &&
    first !== undefined &&
    second !== undefined &&
    third !== undefined &&
    another === undefined
  ) {
    return (scope) => chosen(first(scope), second(scope), third(scope));
  }
  return parser.fail(`${name} of ${given.length}`);
}

const at = (value: Value, index: number): number | null =>
  typeof value === 'number' ? value : (value[index] ?? null);

function lengthOf(...values: Value[]): number | undefined {
  return values.find((value) => typeof value !== 'number')?.length;
}

/** What is missing, or no number, is missing in what is worked out of it. */
function pointwise(operator: Operator, one: Value, other: Value): Value {
  const point = (a: number | null, b: number | null): number | null => {
    if (a === null || b === null) return null;
    const result = operator(a, b);
    return Number.isFinite(result) ? result : null;
  };
  const length = lengthOf(one, other);
  if (length === undefined) return point(at(one, 0), at(other, 0)) ?? Number.NaN;
  return Array.from({ length }, (_, index) => point(at(one, index), at(other, index)));
}

function filled(value: Value, filling: Value): Value {
  if (typeof value === 'number') return value;
  return value.map((each, index) => each ?? at(filling, index));
}

function chosen(condition: Value, then: Value, otherwise: Value): Value {
  const point = (index: number) => {
    const is = at(condition, index);
    return is === null ? null : at(is === 0 ? otherwise : then, index);
  };
  const length = lengthOf(condition, then, otherwise);
  if (length === undefined) return point(0) ?? Number.NaN;
  return Array.from({ length }, (_, index) => point(index));
}
