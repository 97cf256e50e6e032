import { Aws } from 'aws-cdk-lib';
import { Construct } from 'constructs';
import type { Config } from '../../config-schema.ts';
import type { Api } from '../api.ts';
import { output } from '../output.ts';
import type { Summaries } from '../summaries.ts';
import type { Thumbnails } from '../thumbnails.ts';
import { dashboardName } from './dashboard-name.ts';
import { savedQueries } from './saved-queries.ts';
import { summariesDashboard } from './summaries-dashboard.ts';
import { thumbnailsDashboard } from './thumbnails-dashboard.ts';

export interface ObservabilityProps {
  config: Config;
  thumbnails: Thumbnails;
  summaries: Summaries;
  api: Api;
}

/** What an operator looks at: two dashboards, and queries over the logs. Alarms are where what they watch is. */
export class Observability extends Construct {
  constructor(scope: Construct, id: string, props: ObservabilityProps) {
    super(scope, id);
    const { thumbnails, summaries, api } = props;
    thumbnailsDashboard(this, props);
    summariesDashboard(this, props);
    savedQueries(this, {
      thumbnails: {
        worker: thumbnails.worker.logGroup,
        failures: thumbnails.failures.logGroup,
        api: api.handler.logGroup,
      },
      imports: summaries.functions.map(({ logGroup }) => logGroup),
    });
    output(this, 'ThumbnailsDashboard', consoleUrl(dashboardName('thumbnails')));
    output(this, 'SummariesDashboard', consoleUrl(dashboardName('summaries')));
  }
}

const consoleUrl = (name: string): string =>
  `https://console.aws.amazon.com/cloudwatch/home?region=${Aws.REGION}#dashboards/dashboard/${name}`;
