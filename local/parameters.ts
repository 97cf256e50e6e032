import type { RequestListener, ServerResponse } from 'node:http';
import { z } from 'zod';
import { createAdmission, JsonError, sendJson, sendRefusal } from './gateway/json-service.ts';
import type { Authority, Call } from './iam/authority.ts';
import type { Identities } from './iam/identities.ts';
import { ACCOUNT, REGION } from './template/intrinsics.ts';
import type { FunctionPlan } from './template/stack.ts';

// Systems Manager's Parameter Store, of which functions read secrets: one operation of it.

/** Of a developer who gives no other, before the parameter's name. The provider on this machine takes any key. */
const LOCAL_KEY = 'local-provider-key:';
const inputSchema = z.object({ Name: z.string(), WithDecryption: z.boolean().default(false) });

export interface ParameterStore {
  /** By name. */
  readonly values: ReadonlyMap<string, string>;
  /** Where clients find it. */
  readonly origin: string;
  readonly identities: Identities;
  readonly authority: Authority;
}

/**
 * The parameters that the functions are told of, by variables such as `PROVIDER_KEY_PARAMETER`, and
 * what is in them: a key for each, so that the provider can tell accounts apart, or the developer's.
 */
export function parameterValues(
  functions: readonly FunctionPlan[],
  environment: NodeJS.ProcessEnv,
): ReadonlyMap<string, string> {
  const names = functions.flatMap((fn) =>
    Object.entries(fn.environment).flatMap(([variable, value]) =>
      variable.endsWith('_PARAMETER') ? [value] : [],
    ),
  );
  return new Map(names.map((name) => [name, environment.GLIMPSE_PROVIDER_KEY || LOCAL_KEY + name]));
}

export function createParameterStore(store: ParameterStore): RequestListener {
  const { host } = new URL(store.origin);
  const { identities, authority } = store;
  const target = 'AmazonSSM.';
  const admit = createAdmission({ name: 'ssm', target, identities, authority, callsOf });
  return (request, response) => {
    // The key may be a real one: a page whose host's name was made to lead here must not read it,
    // and the developer's access key is known to all.
    if (request.headers.host !== host) {
      const refused = new JsonError(403, 'AccessDeniedException', `Expected ${host}.`);
      sendRefusal(response, 'ssm', refused);
      return;
    }
    admit(request)
      .then(({ input }) => answer(store, input, response))
      .catch((error: unknown) => sendRefusal(response, 'ssm', error));
  };
}

function callsOf(operation: string, input: unknown): Call[] | undefined {
  if (operation !== 'GetParameter') return undefined;
  return [{ action: 'ssm:GetParameter', resource: arnOf(parse(input).Name) }];
}

function parse(input: unknown): z.infer<typeof inputSchema> {
  const parsed = inputSchema.safeParse(input);
  if (parsed.success) return parsed.data;
  throw new JsonError(400, 'ValidationException', 'Expected the name of a parameter.');
}

function answer({ values }: ParameterStore, input: unknown, response: ServerResponse): void {
  const { Name, WithDecryption } = parse(input);
  const value = values.get(Name);
  if (value === undefined) {
    const message = `${Name} is no parameter that a function's environment names.`;
    throw new JsonError(400, 'ParameterNotFound', message);
  }
  sendJson(response, 'ssm', 200, {
    Parameter: {
      Name,
      Type: 'SecureString',
      Value: WithDecryption ? value : 'encrypted, as WithDecryption was not asked for',
      Version: 1,
      LastModifiedDate: 1_767_225_600,
      ARN: arnOf(Name),
      DataType: 'text',
    },
  });
}

function arnOf(name: string): string {
  return `arn:aws:ssm:${REGION}:${ACCOUNT}:parameter/${name.replace(/^\//, '')}`;
}
