import { build } from 'esbuild';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { templateOf } from './synth.ts';

// Each function is granted what it calls and nothing else: the calls are read from its bundle,
// where what it does not reach has been shaken off, and held against its policy.

const ACTIONS: Record<string, string> = {
  BatchGetCommand: 'dynamodb:BatchGetItem',
  DeleteCommand: 'dynamodb:DeleteItem',
  GetCommand: 'dynamodb:GetItem',
  PutCommand: 'dynamodb:PutItem',
  QueryCommand: 'dynamodb:Query',
  UpdateCommand: 'dynamodb:UpdateItem',
  ConverseCommand: 'bedrock:InvokeModel',
  AbortMultipartUploadCommand: 's3:AbortMultipartUpload',
  CompleteMultipartUploadCommand: 's3:PutObject',
  CreateMultipartUploadCommand: 's3:PutObject',
  DeleteObjectCommand: 's3:DeleteObject',
  GetObjectCommand: 's3:GetObject',
  HeadObjectCommand: 's3:GetObject',
  ListObjectsV2Command: 's3:ListBucket',
  PutObjectCommand: 's3:PutObject',
  UploadPartCommand: 's3:PutObject',
  ChangeMessageVisibilityCommand: 'sqs:ChangeMessageVisibility',
  GetQueueAttributesCommand: 'sqs:GetQueueAttributes',
  SendMessageBatchCommand: 'sqs:SendMessage',
  SendMessageCommand: 'sqs:SendMessage',
  GetParameterCommand: 'ssm:GetParameter',
};

/** What Lambda calls in a queue reader's name. */
const READS_A_QUEUE = ['sqs:DeleteMessage', 'sqs:GetQueueAttributes', 'sqs:ReceiveMessage'];

const LOGS = ['logs:CreateLogStream', 'logs:PutLogEvents'];

/** What whoever holds a URL or a form does in the signer's name. */
const SIGNS = ['s3:GetObject', 's3:PutObject'];

/** Without it S3 answers 403 to the read of an object that is gone. */
const HEARS_OF_THE_MISSING = ['s3:ListBucket'];

/** What an upload in parts calls besides, when it fails. */
const UPLOADS_IN_PARTS = ['s3:AbortMultipartUpload', 's3:PutObject'];

/** What a bundle can call and the configured provider is not reached by. */
const OTHER_PROVIDERS = ['bedrock:InvokeModel'];

/** They leave a message that fails to its queue's visibility timeout, though their bundles could do otherwise. */
const HANDS_NOTHING_BACK = ['thumbnail-failures', 'chunk-failures'];

async function callsOf(folder: string): Promise<string[]> {
  const { outputFiles } = await build({
    entryPoints: [`functions/${folder}/handler.ts`],
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'node',
    // What a package calls by itself is in the lists above; to bundle them all is most of the work.
    packages: 'external',
    mainFields: ['module', 'main'],
    logLevel: 'error',
  });
  const text = outputFiles[0]?.text ?? '';
  // esbuild heads every module with a comment that names it.
  const ours = text.split(/^\/\/ /m).filter((module) => /^(functions|shared)\//.test(module));
  const commands = ours.flatMap((module) =>
    [...module.matchAll(/new (\w+?Command)\d*\(/g)].map(([, name = '']) => name),
  );
  return commands.map((command) => {
    const action = ACTIONS[command];
    if (action === undefined) throw new Error(`which action is ${command}?`);
    return action;
  });
}

const policySchema = z.object({
  Properties: z.object({
    PolicyDocument: z.object({
      Statement: z.array(
        z.object({
          Action: z.union([z.string().transform((one) => [one]), z.array(z.string())]),
          Resource: z.unknown(),
        }),
      ),
    }),
  }),
});

function grantsOf(logicalId: string): string[] {
  const policies = templateOf().findResources('AWS::IAM::Policy');
  const own = Object.entries(policies).filter(([id]) => id.startsWith(logicalId));
  return own.flatMap(([, policy]) =>
    policySchema.parse(policy).Properties.PolicyDocument.Statement.flatMap(({ Action }) => Action),
  );
}

const FUNCTIONS: readonly (readonly [string, string, readonly string[]])[] = [
  ['thumbnail-api', 'ApiFunction', SIGNS],
  ['thumbnail-worker', 'ThumbnailsWorker', READS_A_QUEUE],
  ['thumbnail-failures', 'ThumbnailsFailures', READS_A_QUEUE],
  ['import-api', 'SummariesApi', SIGNS],
  [
    'import-intake',
    'SummariesIntake',
    [...READS_A_QUEUE, ...HEARS_OF_THE_MISSING, ...UPLOADS_IN_PARTS],
  ],
  ['chunk-worker', 'SummariesInteractiveWorker', [...READS_A_QUEUE, ...HEARS_OF_THE_MISSING]],
  ['chunk-worker', 'SummariesBulkWorker', [...READS_A_QUEUE, ...HEARS_OF_THE_MISSING]],
  ['chunk-failures', 'SummariesFailures', READS_A_QUEUE],
  ['import-reaper', 'SummariesReaper', []],
];

test.each(FUNCTIONS)(
  '%s (%s) is granted exactly what it calls',
  async (folder, logicalId, besides) => {
    const unreached = HANDS_NOTHING_BACK.includes(folder)
      ? [...OTHER_PROVIDERS, 'sqs:ChangeMessageVisibility']
      : OTHER_PROVIDERS;
    const called = (await callsOf(folder)).filter((action) => !unreached.includes(action));
    const calls = [...called, ...besides, ...LOGS];
    expect([...new Set(grantsOf(logicalId))].sort()).toEqual([...new Set(calls)].sort());
  },
);

test('no grant is on everything', () => {
  const policies = Object.values(templateOf().findResources('AWS::IAM::Policy'));
  const statements = policies.flatMap(
    (policy) => policySchema.parse(policy).Properties.PolicyDocument.Statement,
  );
  expect(statements.length).toBeGreaterThan(5);
  for (const { Resource, Action } of statements) {
    expect(Resource).not.toBe('*');
    expect(Action.join()).not.toContain('*');
  }
});
