import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { z } from 'zod';
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
  return (request, response) => {
    // The key may be a real one: a page whose host's name was made to lead here must not read it.
    if (request.headers.host !== host) {
      send(response, 403, { __type: 'AccessDeniedException', message: `Expected ${host}.` });
      return;
    }
    answer(store, request, response).catch(() =>
      send(response, 400, {
        __type: 'ValidationException',
        message: 'Expected the name of a parameter.',
      }),
    );
  };
}

async function answer(
  { values }: ParameterStore,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const operation = request.headers['x-amz-target'];
  if (request.method !== 'POST' || operation !== 'AmazonSSM.GetParameter') {
    const message = `The local cloud knows AmazonSSM.GetParameter, got ${operation ?? 'none'}.`;
    send(response, 400, { __type: 'UnknownOperationException', message });
    return;
  }
  const { Name, WithDecryption } = inputSchema.parse(JSON.parse(await text(request)));
  const value = values.get(Name);
  if (value === undefined) {
    const message = `${Name} is no parameter that a function's environment names.`;
    send(response, 400, { __type: 'ParameterNotFound', message });
    return;
  }
  send(response, 200, {
    Parameter: {
      Name,
      Type: 'SecureString',
      Value: WithDecryption ? value : 'encrypted, as WithDecryption was not asked for',
      Version: 1,
      LastModifiedDate: 1_767_225_600,
      ARN: `arn:aws:ssm:${REGION}:${ACCOUNT}:parameter/${Name.replace(/^\//, '')}`,
      DataType: 'text',
    },
  });
}

function send(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/x-amz-json-1.1' });
  response.end(JSON.stringify(body));
}
