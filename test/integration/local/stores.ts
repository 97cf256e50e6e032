import { test as plainTest } from 'vitest';
import {
  allow,
  arnOf,
  bucket,
  lambda,
  OPEN,
  publicRead,
  queue,
  role,
  startFixture,
} from './fixture-stack.ts';

const cors = {
  CorsConfiguration: {
    CorsRules: [
      {
        AllowedMethods: ['GET'],
        AllowedOrigins: ['https://*.example'],
        AllowedHeaders: ['*'],
        MaxAge: 60,
      },
    ],
  },
};

/**
 * Files that run in one process share a cloud that stores things for whoever calls it: buckets, each
 * of one file, queues, and functions that are there for their keys.
 */
export const test = plainTest.extend(
  'stores',
  { scope: 'worker' },
  // biome-ignore lint/correctness/noEmptyPattern: how vitest tells that a fixture needs no other
  async ({}, { onCleanup }) => {
    const stores = await startFixture(
      {
        // Of keys.test.ts.
        Keys: bucket(),
        KeysOpen: bucket(OPEN),
        KeysOpenPolicy: publicRead('KeysOpen'),
        // Of sub-resources.test.ts.
        Photos: bucket(),
        // Of signatures.test.ts; its functions are so named that no process of theirs starts ahead.
        Private: bucket(cors),
        Open: bucket(OPEN),
        OpenPolicy: publicRead('Open'),
        Shut: bucket({ PublicAccessBlockConfiguration: { RestrictPublicBuckets: true } }),
        ShutPolicy: publicRead('Shut'),
        SummariesSigner: lambda('names'),
        SummariesNarrow: lambda('names', { Role: arnOf('NarrowRole') }),
        NarrowRole: role(allow('s3:GetObject', 'arn:aws:s3:::test-private/narrow/*')),
        // Of notifications.test.ts.
        Events: queue(),
        Told: bucket({
          NotificationConfiguration: {
            QueueConfigurations: [
              { Event: 's3:ObjectCreated:*', Queue: arnOf('Events') },
              { Event: 's3:ObjectRemoved:*', Queue: arnOf('Events') },
            ],
          },
        }),
        Quiet: bucket(),
        // Of sqs.test.ts.
        Work: queue({ VisibilityTimeout: 60 }),
      },
      { names: 'export const handler = () => process.env;' },
    );
    onCleanup(stores.stop);
    return stores;
  },
);
