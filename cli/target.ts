import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { z } from 'zod';
import { json } from '../shared/runtime/env.ts';
import { deliverySchema } from '../shared/thumbnails/delivery.ts';
import { variantSchema } from '../shared/thumbnails/variant.ts';
import { UsageError } from './usage-error.ts';

/** Where an operator's command works: the local cloud, or a deployed stack. */
export interface Target {
  description: string;
  /** The file that names all of it, and the stack's name; no stack of the local cloud. */
  source?: { file: string; stack?: string };
  outputs: Outputs;
  /** Of the local cloud; on AWS the SDK finds them itself. */
  endpoints?: z.infer<typeof endpointsSchema>;
}

const outputsSchema = z.object({
  OriginalsBucket: z.string(),
  // Those that are optional may be missing from a stack that an earlier version deployed.
  ThumbnailsBucket: z.string().optional(),
  ImagesTable: z.string(),
  EagerQueueUrl: z.url(),
  OnDemandQueueUrl: z.url().optional(),
  JobsQueueUrl: z.url().optional(),
  InteractiveQueueUrl: z.url().optional(),
  BulkQueueUrl: z.url().optional(),
  ApiUrl: z.url().optional(),
  Delivery: json(deliverySchema).optional(),
  // A stack that says nothing of it is older than the question, and open.
  ApiAuthentication: z.enum(['jwt', 'iam', 'none']).default('none'),
  Variants: json(z.array(variantSchema).min(1)),
  // Only of a stack with an originals bucket that it has adopted.
  NotificationsToAdd: z.string().optional(),
  // Only of a stack with pages.
  PagesBucket: z.string().optional(),
  PagesConfig: z.string().optional(),
  PagesUrl: z.url().optional(),
});

type Outputs = z.infer<typeof outputsSchema>;

const endpointsSchema = z.object({
  s3: z.url(),
  sqs: z.url(),
  dynamodb: z.url(),
  region: z.string(),
  credentials: z.object({ accessKeyId: z.string(), secretAccessKey: z.string() }),
  /** Of an API that asks for one. */
  token: z.string().optional(),
});

/**
 * @param outputsFile what `cdk deploy --outputs-file` wrote; undefined for the local cloud.
 * @param stateDir the local cloud's.
 */
export async function openTarget(
  outputsFile: string | undefined,
  stateDir: string,
): Promise<Target> {
  return outputsFile === undefined ? await openLocal(stateDir) : await openDeployed(outputsFile);
}

async function openLocal(stateDir: string): Promise<Target> {
  const file = join(stateDir, 'endpoints.json');
  const text = await readFile(file, 'utf8').catch(() => undefined);
  if (text === undefined) {
    throw new UsageError(
      `There is no ${file}: start the local cloud with "npm start", or name a deployed stack with --outputs FILE.`,
    );
  }
  const local = endpointsSchema.extend({ outputs: outputsSchema }).safeParse(parseJson(text));
  if (!local.success) {
    throw new UsageError(
      `${file} says of no local cloud: expected what "npm start" writes, so start it again.`,
    );
  }
  const { outputs, ...endpoints } = local.data;
  await requireAnswer(endpoints.s3);
  return { description: 'the local cloud', source: { file }, outputs, endpoints };
}

/** The local cloud's model provider. */
export async function openProviderAddress(stateDir: string): Promise<string> {
  const file = join(stateDir, 'endpoints.json');
  const text = await readFile(file, 'utf8').catch(() => undefined);
  if (text === undefined) {
    throw new UsageError(
      `There is no ${file}: start the local cloud with "npm start", or name the configured provider with --provider.`,
    );
  }
  const endpoints = z.looseObject({ provider: z.url() }).safeParse(parseJson(text));
  if (!endpoints.success) {
    throw new UsageError(
      `${file} names no model provider: expected what "npm start" writes, so start it again.`,
    );
  }
  await requireAnswer(endpoints.data.provider);
  return endpoints.data.provider;
}

/** The file of the local cloud's endpoints outlives one that was killed. */
async function requireAnswer(url: string): Promise<void> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  try {
    await once(socket, 'connect');
  } catch (cause) {
    throw new UsageError(`The local cloud does not answer at ${url}: start it with "npm start".`, {
      cause,
    });
  } finally {
    socket.destroy();
  }
}

async function openDeployed(file: string): Promise<Target> {
  const text = await readFile(file, 'utf8').catch((cause: unknown) => {
    throw new UsageError(
      `${file} cannot be read: "npm run deploy" writes the stack's outputs to cdk-outputs.json.`,
      { cause },
    );
  });
  const stacks = z.record(z.string(), outputsSchema).safeParse(parseJson(text));
  const [stack] = Object.entries(stacks.data ?? {});
  if (stack === undefined) {
    throw new UsageError(
      `${file} holds no outputs of a Glimpse stack: expected those of "npm run deploy".`,
    );
  }
  const [name, outputs] = stack;
  return { description: `the stack ${name}`, source: { file, stack: name }, outputs };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
