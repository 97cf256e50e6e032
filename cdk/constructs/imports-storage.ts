import { RemovalPolicy } from 'aws-cdk-lib';
import { AttributeType, BillingMode, ProjectionType, Table } from 'aws-cdk-lib/aws-dynamodb';
import type { IBucket } from 'aws-cdk-lib/aws-s3';
import type { Construct } from 'constructs';
import type { Config } from '../config-schema.ts';
import { importsBucket } from './buckets.ts';
import type { Use } from './glimpse-function.ts';

const STRING = AttributeType.STRING;
type Index = 'listed' | 'owned' | 'active';
type Folder = 'sources' | 'chunks' | 'exports';

/** What an import is: its files in a bucket, its rows and progress in a table. */
export class ImportsStorage {
  readonly bucket: IBucket;
  readonly table: Table;

  constructor(scope: Construct, config: Config) {
    this.bucket = importsBucket(scope, config);
    this.table = new Table(scope, 'ImportsTable', {
      partitionKey: { name: 'pk', type: STRING },
      sortKey: { name: 'sk', type: STRING },
      billingMode: BillingMode.PAY_PER_REQUEST,
      timeToLiveAttribute: 'ttl',
      // What a model was paid for is nowhere else.
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
      removalPolicy: RemovalPolicy.RETAIN,
    });
    this.table.addGlobalSecondaryIndex({
      indexName: 'listed' satisfies Index,
      partitionKey: { name: 'listed', type: STRING },
      sortKey: { name: 'importId', type: STRING },
      projectionType: ProjectionType.ALL,
    });
    // Those of one caller.
    this.table.addGlobalSecondaryIndex({
      indexName: 'owned' satisfies Index,
      partitionKey: { name: 'owner', type: STRING },
      sortKey: { name: 'importId', type: STRING },
      projectionType: ProjectionType.ALL,
    });
    // Sparse: an import has the attribute only while there is something to watch over.
    this.table.addGlobalSecondaryIndex({
      indexName: 'active' satisfies Index,
      partitionKey: { name: 'active', type: STRING },
      sortKey: { name: 'importId', type: STRING },
      projectionType: ProjectionType.KEYS_ONLY,
    });
  }

  /** The items of imports: read one or many, written by conditions. @param indexes that are queried too. */
  items(...indexes: Index[]): Use {
    const grants = [
      {
        actions: ['GetItem', 'Query', 'PutItem', 'UpdateItem'].map((name) => `dynamodb:${name}`),
        resources: [this.table.tableArn],
      },
      ...indexes.map((index) => ({
        actions: ['dynamodb:Query'],
        resources: [`${this.table.tableArn}/index/${index}`],
      })),
    ];
    return { variable: 'IMPORTS_TABLE', value: this.table.tableName, grants };
  }

  /** @param lists whether it is to hear that an object is gone: without it S3 answers 403. */
  files(access: { reads?: Folder[]; writes?: Folder[]; lists: boolean }): Use {
    const { reads = [], writes = [], lists } = access;
    const below = (folders: readonly Folder[]) =>
      folders.map((folder) => this.bucket.arnForObjects(`${folder}/*`));
    const grants = [];
    if (reads.length > 0) grants.push({ actions: ['s3:GetObject'], resources: below(reads) });
    if (writes.length > 0) grants.push({ actions: ['s3:PutObject'], resources: below(writes) });
    if (lists) grants.push({ actions: ['s3:ListBucket'], resources: [this.bucket.bucketArn] });
    return { variable: 'IMPORTS_BUCKET', value: this.bucket.bucketName, grants };
  }

  /** The parts of a large file that could not be finished are taken away again. */
  abortingOf(folder: Folder): Use['grants'] {
    return [
      {
        actions: ['s3:AbortMultipartUpload'],
        resources: [this.bucket.arnForObjects(`${folder}/*`)],
      },
    ];
  }
}
