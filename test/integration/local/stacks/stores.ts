import { allow, arnOf, bucket, lambda, OPEN, publicRead, queue, role } from '../fixture-stack.ts';

// What stores things for whoever calls it: buckets, each of one file, and queues; functions are there
// for their keys.

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

export const resources = {
  // Of keys.test.ts.
  Keys: bucket(),
  KeysOpen: bucket(OPEN),
  KeysOpenPolicy: publicRead('KeysOpen'),
  // Of sub-resources.test.ts.
  Photos: bucket(),
  // Of signatures.test.ts.
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
};

export const code = { names: 'export const handler = () => process.env;' };
