import { Agent, type RequestListener, request, type ServerResponse } from 'node:http';
import { z } from 'zod';
import { ENGINE_HEADERS } from '../engines/aws-json.ts';
import type { Authority, Call } from '../iam/authority.ts';
import type { Identities } from '../iam/identities.ts';
import { ACCOUNT, REGION } from '../template/intrinsics.ts';
import { passOn } from './engine.ts';
import { createAdmission, JsonError, sendRefusal } from './json-service.ts';

// DynamoDB in front of an engine that answers everyone: who may do it gets the engine's own answer.

export interface DynamoDbFrontOptions {
  engine: string;
  identities: Identities;
  authority: Authority;
}

export function createDynamoDbFront(options: DynamoDbFrontOptions): RequestListener {
  const { engine, identities, authority } = options;
  const target = 'DynamoDB_20120810.';
  const admit = createAdmission({ name: 'dynamodb', target, identities, authority, callsOf });
  const agent = new Agent({ keepAlive: true });
  const forward = (operation: string, body: Buffer, response: ServerResponse) =>
    new Promise<void>((resolve, reject) => {
      const headers = {
        ...ENGINE_HEADERS.dynamodb,
        'x-amz-target': target + operation,
        'content-length': body.length,
      };
      const outgoing = request(engine, { method: 'POST', agent, headers });
      outgoing.once('error', reject);
      outgoing.once('response', (answer) => {
        const { connection: _, 'transfer-encoding': __, ...kept } = answer.headers;
        response.writeHead(answer.statusCode ?? 500, kept);
        passOn(answer, response).then(resolve, reject);
      });
      outgoing.end(body);
    });
  return (message, response) => {
    admit(message)
      .then(({ operation, body }) => forward(operation, body, response))
      .catch((error: unknown) => {
        if (response.headersSent) response.destroy();
        else sendRefusal(response, 'dynamodb', error);
      });
  };
}

/** What one table is asked for by the operation of the permission's own name. */
const ON_A_TABLE = [
  'GetItem',
  'PutItem',
  'UpdateItem',
  'DeleteItem',
  'DescribeTable',
  'DescribeTimeToLive',
  'UpdateTimeToLive',
  'CreateTable',
  'UpdateTable',
  'DeleteTable',
];
/** By the member that holds one item's part of a transaction. */
const IN_A_TRANSACTION: Readonly<Record<string, string>> = {
  Get: 'GetItem',
  Put: 'PutItem',
  Update: 'UpdateItem',
  Delete: 'DeleteItem',
  ConditionCheck: 'ConditionCheckItem',
};

const named = z.looseObject({ TableName: z.string(), IndexName: z.string().optional() });
const batch = z.looseObject({ RequestItems: z.record(z.string(), z.unknown()) });
const transaction = z.looseObject({ TransactItems: z.array(z.record(z.string(), named)) });

function callsOf(operation: string, input: Record<string, unknown>): readonly Call[] | undefined {
  if (ON_A_TABLE.includes(operation)) {
    return [call(operation, tableArn(read(named, input).TableName))];
  }
  switch (operation) {
    case 'Query':
    case 'Scan': {
      const { TableName, IndexName } = read(named, input);
      const index = IndexName === undefined ? '' : `/index/${IndexName}`;
      return [call(operation, tableArn(TableName) + index)];
    }
    case 'BatchGetItem':
    case 'BatchWriteItem':
      return Object.keys(read(batch, input).RequestItems).map((name) =>
        call(operation, tableArn(name)),
      );
    case 'TransactGetItems':
    case 'TransactWriteItems':
      return read(transaction, input).TransactItems.flatMap((item) =>
        Object.entries(item).map(([member, { TableName }]) => {
          const action = IN_A_TRANSACTION[member];
          if (action !== undefined) return call(action, tableArn(TableName));
          throw new JsonError(400, 'ValidationException', `Unexpected ${member} in a transaction.`);
        }),
      );
    case 'ListTables':
    case 'DescribeEndpoints':
    case 'DescribeLimits':
      return [call(operation, '*')];
    default:
      return undefined;
  }
}

function call(operation: string, resource: string): Call {
  return { action: `dynamodb:${operation}`, resource };
}

/** A table may be told by its ARN. */
function tableArn(name: string): string {
  return name.startsWith('arn:') ? name : `arn:aws:dynamodb:${REGION}:${ACCOUNT}:table/${name}`;
}

function read<T extends z.ZodType>(schema: T, input: unknown): z.output<T> {
  const parsed = schema.safeParse(input);
  if (parsed.success) return parsed.data;
  throw new JsonError(400, 'ValidationException', 'Expected the name of a table.');
}
