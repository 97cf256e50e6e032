import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { z } from 'zod';
import { ACCOUNT, REGION } from './template/intrinsics.ts';
import type { FunctionPlan } from './template/stack.ts';

// Systems Manager's Parameter Store, of which functions read secrets: one operation of it.

/** Of a developer who gives no other. The provider on this machine takes any key. */
const LOCAL_KEY = 'local-provider-key';
const inputSchema = z.object({ Name: z.string(), WithDecryption: z.boolean().default(false) });

export interface ParameterStore {
  readonly names: ReadonlySet<string>;
  /** Of all of them. */
  readonly value: string;
  /** Where clients find it. */
  readonly origin: string;
}

/** The parameters that the functions are told of, by variables such as `PROVIDER_KEY_PARAMETER`. */
export function parameterNames(functions: readonly FunctionPlan[]): ReadonlySet<string> {
  return new Set(
    functions.flatMap(({ environment }) =>
      Object.entries(environment).flatMap(([variable, value]) =>
        variable.endsWith('_PARAMETER') ? [value] : [],
      ),
    ),
  );
}

export function providerKey(environment: NodeJS.ProcessEnv): string {
  return environment.GLIMPSE_PROVIDER_KEY || LOCAL_KEY;
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
  { names, value }: ParameterStore,
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
  if (!names.has(Name)) {
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
