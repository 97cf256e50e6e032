import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { S3Client } from '@aws-sdk/client-s3';
import sharp from 'sharp';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { type LocalCloud, startLocalCloud } from '../../../local/cloud.ts';
import { changedStack } from '../../flows/changed-stack.ts';
import { put, type Target, thumbnails, until } from '../../flows/target.ts';
import { root } from './fixture-stack.ts';

// The stack of Glimpse itself, with grants taken away that its functions need.

/** The template without these: an action in the policy of the function whose id begins so. */
function without(removed: readonly (readonly [string, string])[]) {
  return (text: string): string => {
    const template = JSON.parse(text);
    let count = 0;
    for (const [id, { Type, Properties }] of Object.entries<{
      Type: string;
      Properties: { PolicyDocument: { Statement: { Action: string | string[] }[] } };
    }>(template.Resources)) {
      if (Type !== 'AWS::IAM::Policy') continue;
      for (const [begin, action] of removed) {
        if (!id.startsWith(begin)) continue;
        for (const statement of Properties.PolicyDocument.Statement) {
          const actions = [statement.Action].flat();
          if (!actions.includes(action)) continue;
          count += 1;
          const left = actions.filter((each) => each !== action);
          statement.Action = left.length === 0 ? 'sts:GetCallerIdentity' : left;
        }
      }
    }
    expect(count).toBe(removed.length);
    return JSON.stringify(template);
  };
}

let folder: string;
let stateDir: string;
let cloud: LocalCloud;
let target: Target;
const denied: string[] = [];

beforeAll(async () => {
  const removed = [
    ['ApiFunctionRole', 'dynamodb:BatchGetItem'],
    ['ThumbnailsWorkerRole', 's3:PutObject'],
  ] as const;
  folder = await changedStack(root, inject('cdkOut'), without(removed));
  stateDir = await mkdtemp(join(tmpdir(), 'glimpse-removed-'));
  const onDenied = (line: string) => denied.push(line);
  cloud = await startLocalCloud({ root, stateDir, cdkOut: folder, onDenied });
  const { api, s3: endpoint, region, credentials, buckets, token } = cloud.endpoints;
  const s3 = new S3Client({ endpoint, region, credentials, forcePathStyle: true });
  target = { api, s3, originals: buckets.originals ?? '', token: token ?? '' };
});
afterAll(async () => {
  await cloud?.stop();
  for (const each of [folder, stateDir]) await rm(each, { recursive: true, force: true });
});

test('a removed grant fails the request that needs it, and is named', async () => {
  await expect(thumbnails(target, ['cold/never asked for.jpg'])).rejects.toThrow('answered 500');
  expect(denied).toContainEqual(
    'AccessDenied: the function glimpse-api-function called dynamodb:BatchGetItem on arn:aws:dynamodb:us-east-1:000000000000:table/glimpse-thumbnails-images, which its role glimpse-api-function-role does not allow in the template; grant it there (cdk/), or AWS will refuse it too.',
  );
});

test('a removed grant of a worker keeps its message on the queue, and is named', async () => {
  const size = { width: 30, height: 20, channels: 3, background: 'red' } as const;
  await put(target, 'an upload.jpg', await sharp({ create: size }).jpeg().toBuffer());
  await until(
    async () => denied,
    (lines) => lines.some((line) => line.includes('the function glimpse-thumbnails-worker called')),
  );
  expect(denied.at(-1)).toContain(
    'called s3:PutObject on arn:aws:s3:::glimpse-thumbnails/an upload.jpg/*, which its role glimpse-thumbnails-worker-role does not allow',
  );
});
