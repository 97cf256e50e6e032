import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { S3Client } from '@aws-sdk/client-s3';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { type LocalCloud, startLocalCloud } from '../../local/cloud.ts';
import type { CloudEndpoints } from '../../local/endpoints.ts';
import type { ImagesTable } from '../../shared/thumbnails/images-table.ts';
import { changedStack } from '../flows/changed-stack.ts';
import type { Target } from '../flows/target.ts';

/** Where uploads are told of; all else in the bucket is cold until somebody looks. */
export const TOLD = 'told/';

export interface Cloud {
  endpoints: CloudEndpoints;
  target: Target;
  table: ImagesTable;
  /** Requests that the API has answered so far, as it counts them itself. */
  answered(): number;
  stop(): Promise<void>;
}

/**
 * The local cloud with a bucket that keeps quiet about most of its uploads.
 *
 * @param cdn the origin of what delivers thumbnails in the bucket's place
 */
export async function startCloud(cdkOut: string, cdn?: string): Promise<Cloud> {
  const root = resolve(import.meta.dirname, '../..');
  const stateDir = await mkdtemp(join(tmpdir(), 'glimpse-browser-'));
  const stack = await quietStack(root, cdkOut, cdn);
  const removeFolders = async () => {
    for (const folder of [stateDir, stack]) await rm(folder, { recursive: true, force: true });
  };
  let cloud: LocalCloud;
  try {
    cloud = await startLocalCloud({ root, stateDir, cdkOut: stack });
  } catch (error) {
    await removeFolders();
    throw error;
  }
  const { endpoints } = cloud;
  const { s3, dynamodb, region, credentials, buckets, tables, api, token = '' } = endpoints;
  return {
    endpoints,
    target: {
      api,
      s3: new S3Client({ endpoint: s3, region, credentials, forcePathStyle: true }),
      originals: buckets.originals ?? '',
      token,
    },
    table: {
      client: DynamoDBDocumentClient.from(
        new DynamoDBClient({ endpoint: dynamodb, region, credentials }),
      ),
      name: tables.images ?? '',
    },
    answered: () => cloud.counts(endpoints.functions.ApiFunction ?? '').invocations,
    stop: async () => {
      await cloud.stop();
      await removeFolders();
    },
  };
}

interface Notifications {
  QueueConfigurations: { Filter?: unknown }[];
}

/** A stack whose originals bucket tells of few uploads. */
function quietStack(root: string, cdkOut: string, cdn?: string): Promise<string> {
  return changedStack(root, cdkOut, (text) => {
    const template = JSON.parse(cdn === undefined ? text : deliveredBy(cdn, text));
    const resources = Object.values<{
      Properties?: { NotificationConfiguration?: Notifications };
    }>(template.Resources);
    for (const { Properties: properties } of resources) {
      for (const told of properties?.NotificationConfiguration?.QueueConfigurations ?? []) {
        // Files of imports are always told of: their rule names a folder already.
        if (told.Filter !== undefined) continue;
        told.Filter = { S3Key: { Rules: [{ Name: 'prefix', Value: TOLD }] } };
      }
    }
    return JSON.stringify(template);
  });
}

/** As the stack would be with delivery by a CDN, but for where that is. */
function deliveredBy(cdn: string, template: string): string {
  const delivery = JSON.stringify(JSON.stringify({ kind: 'cdn', origin: cdn }));
  const changed = template
    .replace(/(?<="DELIVERY": ?)"(?:[^"\\]|\\.)*"/, delivery)
    .replace("img-src 'self' ", `img-src 'self' ${cdn} `);
  if (changed.split(cdn).length !== 3) throw new Error('The template is not as it was.');
  return changed;
}
