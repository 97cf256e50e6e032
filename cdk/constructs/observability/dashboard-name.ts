import { Aws } from 'aws-cdk-lib';

/** An account has one list of dashboards for all regions. */
export const dashboardName = (about: 'thumbnails' | 'summaries'): string =>
  `${Aws.STACK_NAME}-${Aws.REGION}-${about}`;
