import { arnOf, lambda } from '../fixture-stack.ts';

const SLOW = `
export const handler = async (event) => {
  console.log('begins ' + JSON.stringify(event));
  await new Promise((done) => setTimeout(done, 250));
  console.log('ends');
  throw new Error('all for nothing');
};`;

export const resources = {
  SummariesReaper: lambda('failing'),
  // The cloud may have been there for minutes when its test looks.
  Seldom: {
    Type: 'AWS::Events::Rule',
    Properties: {
      ScheduleExpression: 'rate(1000 minutes)',
      State: 'ENABLED',
      Targets: [{ Arn: arnOf('SummariesReaper'), Id: 'Target0' }],
    },
  },
};

export const code = { failing: SLOW };
