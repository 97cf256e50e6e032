import { Aws } from 'aws-cdk-lib';
import { type ILogGroup, QueryDefinition, QueryString } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';

export interface SavedQueriesProps {
  thumbnails: Record<'worker' | 'api' | 'failures', ILogGroup>;
  /** Of all functions that have to do with imports. */
  imports: ILogGroup[];
}

interface Query {
  name: string;
  logGroups: ILogGroup[];
  fields: string[];
  filters: string[];
  stats?: string[];
  sort: string;
  limit?: number;
}

/**
 * What metrics cannot tell, as galleries, images and imports have no end: by the properties of logs. In
 * the console they are below Logs Insights, Queries.
 */
export function savedQueries(scope: Construct, { thumbnails, imports }: SavedQueriesProps): void {
  const { worker, api, failures } = thumbnails;
  const queries: Readonly<Record<string, Query>> = {
    SlowestGalleries: {
      name: 'thumbnails: the slowest galleries',
      logGroups: [worker],
      fields: ['@timestamp', 'gallery', 'missToReadyMs'],
      filters: ['ispresent(missToReadyMs)'],
      stats: [
        'count(*) as images, pct(missToReadyMs, 95) as p95, max(missToReadyMs) as longest by gallery',
      ],
      sort: 'p95 desc',
      limit: 50,
    },
    ColdGalleries: {
      name: 'thumbnails: the coldest galleries',
      logGroups: [api],
      fields: ['@timestamp', 'gallery', 'misses'],
      filters: ['message = "cold images"'],
      stats: ['sum(misses) as cold, count(*) as requests by gallery'],
      sort: 'cold desc',
      limit: 50,
    },
    FailuresOfAnImage: {
      name: 'thumbnails: what became of an image (put its key in)',
      logGroups: [worker, failures, api],
      fields: [
        '@timestamp',
        'service',
        'level',
        'message',
        'kind',
        'class',
        'reason',
        'error.message',
      ],
      filters: ['@message like "IMAGE-KEY"'],
      sort: '@timestamp asc',
    },
    FailuresByClass: {
      name: 'thumbnails: failures by class and gallery',
      logGroups: [worker],
      fields: ['@timestamp', 'class', 'gallery', 'image'],
      filters: ['kind = "failed"'],
      stats: ['count(*) as images, latest(image) as one by class, gallery'],
      sort: 'images desc',
      limit: 100,
    },
    StoryOfAnImport: {
      name: 'summaries: the story of an import (put its id in)',
      logGroups: imports,
      fields: [
        '@timestamp',
        'service',
        'level',
        'message',
        'chunk',
        'row',
        'kind',
        'code',
        'done',
        'failed',
      ],
      filters: ['@message like "IMPORT-ID"'],
      sort: '@timestamp asc',
      limit: 1000,
    },
    FailuresOfImports: {
      name: 'summaries: failed rows and calls, by import and code',
      logGroups: imports,
      fields: ['@timestamp', 'importId', 'code', 'row'],
      filters: ['message in ["a row failed", "a call failed"]'],
      stats: ['count(*) as times, latest(row) as one by importId, message, code'],
      sort: 'times desc',
      limit: 100,
    },
  };
  for (const [id, { name, logGroups, filters, stats, ...query }] of Object.entries(queries)) {
    new QueryDefinition(scope, id, {
      queryDefinitionName: `${Aws.STACK_NAME}/${name}`,
      logGroups,
      queryString: new QueryString({
        ...query,
        filterStatements: filters,
        ...(stats === undefined ? {} : { statsStatements: stats }),
      }),
    });
  }
}
