import type { ApiPlan, RoutePlan } from '../template/stack.ts';

export interface RouteMatch extends RoutePlan {
  readonly pathParameters: Readonly<Record<string, string>>;
}

export type Match = (method: string, path: string) => RouteMatch | undefined;

/** Finds a request's route as API Gateway does: the most exact path first, then the method before `ANY`. */
export function createMatcher(routes: ApiPlan['routes']): Match {
  const candidates = routes
    .map((route) => ({ route, ...parseKey(route.key) }))
    .sort((a, b) => a.rank.localeCompare(b.rank));
  return (method, path) => {
    const segments = path.split('/').slice(1);
    for (const { route, method: wanted, pattern } of candidates) {
      if (wanted !== 'ANY' && wanted !== method) continue;
      const pathParameters = matchSegments(pattern, segments);
      if (pathParameters !== undefined) return { ...route, pathParameters };
    }
    return undefined;
  };
}

interface ParsedKey {
  method: string;
  pattern: readonly string[] | undefined;
  /** Sorts before the less exact. */
  rank: string;
}

function parseKey(key: string): ParsedKey {
  if (key === '$default') return { method: 'ANY', pattern: undefined, rank: '9' };
  const [method = '', path = ''] = key.split(' ');
  const pattern = path.split('/').slice(1);
  const exactness = pattern.map((part) =>
    part.endsWith('+}') ? '3' : part.startsWith('{') ? '2' : '1',
  );
  return { method, pattern, rank: `${exactness.join('')}${method === 'ANY' ? 'b' : 'a'}` };
}

function matchSegments(
  pattern: readonly string[] | undefined,
  segments: readonly string[],
): Record<string, string> | undefined {
  if (pattern === undefined) return {};
  const greedy = pattern.at(-1)?.endsWith('+}') === true;
  if (greedy ? segments.length < pattern.length : segments.length !== pattern.length) {
    return undefined;
  }
  const found: Record<string, string> = {};
  for (const [index, part] of pattern.entries()) {
    const segment = segments[index] ?? '';
    const name = /^\{([^}+]+)(\+?)\}$/.exec(part);
    if (name === null) {
      if (part !== segment) return undefined;
    } else if (name[2] === '+') {
      found[name[1] ?? ''] = decode(segments.slice(index).join('/'));
    } else {
      if (segment === '') return undefined;
      found[name[1] ?? ''] = decode(segment);
    }
  }
  return found;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
