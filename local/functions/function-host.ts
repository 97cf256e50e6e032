import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { z } from 'zod';
import { type FromFunction, type FunctionError, type Invocation, toFunction } from './messages.ts';

// A function's process: loads the bundle once, then runs one invocation at a time. Started with
// nothing but the function's own environment; `_HANDLER` and `LAMBDA_TASK_ROOT` say what to load.

const handlerSchema = z.custom<(event: unknown, context: object) => unknown>(
  (value) => typeof value === 'function',
);

// Ctrl-C reaches the whole process group; the main process decides what stops when.
process.on('SIGINT', () => {});
process.on('disconnect', () => process.exit(0));

const environment = z
  .object({
    _HANDLER: z.string(),
    LAMBDA_TASK_ROOT: z.string(),
    AWS_LAMBDA_FUNCTION_NAME: z.string(),
    AWS_LAMBDA_FUNCTION_VERSION: z.string(),
    AWS_LAMBDA_FUNCTION_MEMORY_SIZE: z.string(),
    AWS_LAMBDA_LOG_GROUP_NAME: z.string(),
    AWS_LAMBDA_LOG_STREAM_NAME: z.string(),
  })
  .parse(process.env);

try {
  const handler = await loadHandler(environment.LAMBDA_TASK_ROOT, environment._HANDLER);
  process.on('message', (message) => void run(handler, toFunction.parse(message)));
  report({ type: 'ready', initMs: process.uptime() * 1000 });
} catch (error) {
  report({ type: 'unusable', error: describe(error) });
}

async function loadHandler(folder: string, name: string) {
  const dot = name.lastIndexOf('.');
  const [file, exported] = [name.slice(0, dot), name.slice(dot + 1)];
  const path = ['.mjs', '.js', '.cjs'].map((end) => join(folder, file + end)).find(existsSync);
  if (path === undefined) throw new Error(`${folder} holds no module ${file}.`);
  const bundle: unknown = await import(pathToFileURL(path).href);
  const handler = typeof bundle === 'object' && bundle ? Reflect.get(bundle, exported) : undefined;
  const parsed = handlerSchema.safeParse(handler);
  if (!parsed.success) throw new Error(`${path} exports no function ${exported}.`);
  return parsed.data;
}

async function run(handler: z.infer<typeof handlerSchema>, invocation: Invocation): Promise<void> {
  const { requestId } = invocation;
  process.env._X_AMZN_TRACE_ID = `Root=1-${requestId.slice(0, 8)}-${requestId.replaceAll('-', '').slice(8, 32)};Sampled=0`;
  try {
    const answer: unknown = await handler(JSON.parse(invocation.event), contextOf(invocation));
    report({ type: 'answer', requestId, answer: JSON.stringify(answer) ?? 'null' });
  } catch (error) {
    report({ type: 'error', requestId, error: describe(error) });
  }
}

function contextOf({ requestId, deadline, arn }: Invocation): object {
  return {
    awsRequestId: requestId,
    callbackWaitsForEmptyEventLoop: true,
    functionName: environment.AWS_LAMBDA_FUNCTION_NAME,
    functionVersion: environment.AWS_LAMBDA_FUNCTION_VERSION,
    invokedFunctionArn: arn,
    logGroupName: environment.AWS_LAMBDA_LOG_GROUP_NAME,
    logStreamName: environment.AWS_LAMBDA_LOG_STREAM_NAME,
    memoryLimitInMB: environment.AWS_LAMBDA_FUNCTION_MEMORY_SIZE,
    getRemainingTimeInMillis: () => Math.max(0, Math.round(deadline - Date.now())),
  };
}

function describe(error: unknown): FunctionError {
  if (!(error instanceof Error)) {
    return { errorType: 'Error', errorMessage: String(error), trace: [] };
  }
  const trace = (error.stack ?? '').split('\n');
  return { errorType: error.name, errorMessage: error.message, trace };
}

function report(message: FromFunction): void {
  if (process.connected) process.send?.(message);
}
