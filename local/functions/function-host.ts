import { existsSync } from 'node:fs';
import { createRequire, flushCompileCache } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Deadline, FromFunction, FunctionError, Invocation } from './messages.ts';

// A function's process: loads the bundle once, then runs one invocation at a time. Started with
// nothing but the function's own environment; `_HANDLER` and `LAMBDA_TASK_ROOT` say what to load.
// It imports nothing but Node: a schema library would double the time of a cold start.

type Handler = (event: unknown, context: object) => unknown;

// Ctrl-C reaches the whole process group, as does a closed terminal; the main process decides what stops when.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});
process.on('disconnect', () => process.exit(0));

/** Of the invocation that runs, in epoch milliseconds. */
let deadline = 0;

// Meant for this module, and nothing that Lambda would tell a function.
delete process.env.NODE_COMPILE_CACHE;
try {
  const handler = await loadHandler(variable('LAMBDA_TASK_ROOT'), variable('_HANDLER'));
  process.on('message', (message) => {
    if (isDeadline(message)) deadline = message.deadline;
    if (isInvocation(message)) void run(handler, message);
  });
  report({ type: 'ready', initMs: process.uptime() * 1000 });
  // Not left to the end, as most are killed.
  flushCompileCache();
} catch (error) {
  report({ type: 'unusable', error: describe(error) });
}

function variable(name: string): string {
  return process.env[name] ?? '';
}

async function loadHandler(folder: string, name: string): Promise<Handler> {
  const dot = name.lastIndexOf('.');
  const [file, exported] = [name.slice(0, dot), name.slice(dot + 1)];
  const path = ['.mjs', '.js', '.cjs'].map((end) => join(folder, file + end)).find(existsSync);
  if (path === undefined) throw new Error(`${folder} holds no module ${file}.`);
  const bundle: unknown = path.endsWith('.mjs')
    ? await import(pathToFileURL(path).href)
    : createRequire(path)(path);
  const handler = typeof bundle === 'object' && bundle ? Reflect.get(bundle, exported) : undefined;
  if (!isHandler(handler)) throw new Error(`${path} exports no function ${exported}.`);
  return handler;
}

function isHandler(value: unknown): value is Handler {
  return typeof value === 'function';
}

// Only the main process is at the other end.

function isDeadline(message: unknown): message is Deadline {
  return typeof message === 'object' && message !== null && 'deadline' in message;
}

function isInvocation(message: unknown): message is Invocation {
  return typeof message === 'object' && message !== null && 'requestId' in message;
}

async function run(handler: Handler, invocation: Invocation): Promise<void> {
  const { requestId } = invocation;
  process.env._X_AMZN_TRACE_ID = `Root=1-${requestId.slice(0, 8)}-${requestId.replaceAll('-', '').slice(8, 32)};Sampled=0`;
  try {
    const answer: unknown = await handler(JSON.parse(invocation.event), contextOf(invocation));
    report({ type: 'answer', requestId, answer: JSON.stringify(answer) ?? 'null' });
  } catch (error) {
    report({ type: 'error', requestId, error: describe(error) });
  }
}

function contextOf({ requestId, arn }: Invocation): object {
  return {
    awsRequestId: requestId,
    callbackWaitsForEmptyEventLoop: true,
    functionName: variable('AWS_LAMBDA_FUNCTION_NAME'),
    functionVersion: variable('AWS_LAMBDA_FUNCTION_VERSION'),
    invokedFunctionArn: arn,
    logGroupName: variable('AWS_LAMBDA_LOG_GROUP_NAME'),
    logStreamName: variable('AWS_LAMBDA_LOG_STREAM_NAME'),
    memoryLimitInMB: variable('AWS_LAMBDA_FUNCTION_MEMORY_SIZE'),
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
