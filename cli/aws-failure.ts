import * as z from 'zod';
import type { CallLimits } from './call-limits.ts';
import type { Target } from './target.ts';
import { UsageError } from './usage-error.ts';

/** What a call names, in the words of each service. */
const inputSchema = z.object({
  Bucket: z.string().optional(),
  TableName: z.string().optional(),
  RequestItems: z.record(z.string(), z.unknown()).optional(),
  QueueName: z.string().optional(),
  QueueUrl: z.string().optional(),
});

const KINDS: Readonly<Record<string, 'bucket' | 'table' | 'queue'>> = {
  NoSuchBucket: 'bucket',
  ResourceNotFoundException: 'table',
  QueueDoesNotExist: 'queue',
  'AWS.SimpleQueueService.NonExistentQueue': 'queue',
};

/** Of connections that came to nothing, by Node and by the SDK. */
const SILENT =
  /^(TimeoutError|ECONNREFUSED|ECONNRESET|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|ETIMEDOUT|EPIPE)$/;

interface Called {
  service: string;
  target: Pick<Target, 'endpoints' | 'source'>;
  limits: CallLimits;
}

/** AWS, or what stands in its place, has not answered. */
export class SilentError extends Error {}

/** As a client of any service has it. */
interface Failing {
  middlewareStack: {
    add(
      middleware: (
        next: (args: { input: object }) => Promise<{ output: object }>,
        context: { endpointV2?: { url: URL } },
      ) => (args: { input: object }) => Promise<{ output: object }>,
      options: { step: 'initialize'; name: string },
    ): void;
  };
}

/** Has a client throw sentences, around its attempts and not in each of them. */
export function tellFailures<Client extends Failing>(client: Client, called: Called): Client {
  client.middlewareStack.add(
    (next, context) => (args) => next(args).catch(awsFailure(called)(args.input, context)),
    { step: 'initialize', name: 'tellFailures' },
  );
  return client;
}

/** What a call that failed comes to: a sentence where nobody but the operator can do something about it. */
function awsFailure({ service, target, limits }: Called) {
  return (input: object, context: { endpointV2?: { url: URL } }) =>
    (error: unknown): never => {
      if (!(error instanceof Error)) throw error;
      const kind = KINDS[error.name];
      if (kind !== undefined) throw absent(kind, nameOf(input), target, error);
      const code = 'code' in error ? String(error.code) : error.name;
      if (![error.name, code].some((each) => SILENT.test(each))) throw error;
      const url = context.endpointV2?.url.origin;
      const place = url === undefined ? '' : ` at ${url}`;
      const { attempts, silentMs } = limits;
      const why =
        error.name === 'TimeoutError'
          ? `nothing for ${silentMs / 1000} s, ${attempts} times`
          : code;
      throw new SilentError(`${service} does not answer${place} (${why}): ${remedy(target)}.`, {
        cause: error,
      });
    };
}

/** @returns the sentence for something that a target names, and that is not there */
export function absent(
  kind: 'bucket' | 'table' | 'queue',
  name: string,
  { source, endpoints }: Pick<Target, 'endpoints' | 'source'>,
  cause?: unknown,
): UsageError {
  const what = `There is no ${kind} ${name}`;
  const sentence =
    source === undefined
      ? `${what} in this account and region: choose them by AWS_PROFILE and AWS_REGION.`
      : endpoints === undefined
        ? `${what}, which ${source.file} names: the stack ${source.stack} may be deleted, or the file be of a stack in another account or region (AWS_PROFILE, AWS_REGION).`
        : `${what}, which ${source.file} names: start the local cloud again with "npm start".`;
  return new UsageError(sentence, { cause });
}

function remedy({ endpoints }: Pick<Target, 'endpoints'>): string {
  return endpoints === undefined
    ? 'look at the network, and at AWS_REGION and AWS_ENDPOINT_URL where they are set'
    : 'start the local cloud again with "npm start"';
}

function nameOf(input: object): string {
  const { data } = inputSchema.safeParse(input);
  const { Bucket, TableName, RequestItems = {}, QueueName, QueueUrl } = data ?? {};
  const queue = QueueName ?? QueueUrl?.split('/').at(-1);
  return Bucket ?? TableName ?? queue ?? Object.keys(RequestItems).join(', ');
}
