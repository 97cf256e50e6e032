import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { App, type Stack, Validations } from 'aws-cdk-lib';
import { AwsSolutionsChecks } from 'cdk-nag';
import { afterAll, expect, test } from 'vitest';
import { stackOf, temporaryFolder } from './synth.ts';

const folder = temporaryFolder();
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** What the AWS Solutions rules find and why it stands. Anything else fails the synthesis. */
const ACKNOWLEDGED = [
  [
    'S1',
    'access logs cost more than what they tell; whoever needs them adopts buckets that have them',
  ],
  ['APIG1', 'the function logs every request that fails'],
  [
    'APIG4',
    'galleries are public; an application that wants them closed puts its authorizer in front',
  ],
  [
    'CFR1',
    'galleries are public everywhere; who may see them is for the authorizer in front of the API',
  ],
  ['CFR2', 'the pages are files: there is nothing behind them that a firewall would protect'],
  ['CFR3', 'access logs of static files cost more than what they tell'],
  [
    'CFR4',
    "CloudFront's own certificate comes with its own list of TLS versions; only a domain of one's own can raise it",
  ],
  [
    'DDB3',
    'the images table is rebuilt from the originals bucket, and the fleet table is of the last minutes',
  ],
  [
    'IAM5[Resource::<ThumbnailsOriginalsE1FF839A.Arn>/*]',
    'any object of the originals may be an image',
  ],
  ['IAM5[Resource::<ThumbnailsCFC5E27D.Arn>/*]', 'thumbnails have the keys of their originals'],
  [
    'IAM5[Resource::<SummariesImportsF8DF56E7.Arn>/sources/*]',
    'an upload has the key of its import, which is not known before; nothing else is below sources/',
  ],
  [
    'IAM5[Resource::<SummariesImportsF8DF56E7.Arn>/chunks/*]',
    'so have the chunks that are made of it',
  ],
  [
    'IAM5[Resource::<SummariesImportsF8DF56E7.Arn>/exports/*]',
    'and its exports: each function has the folders that it reads or writes, and no other',
  ],
] as const;

function synthesise(stack: Stack, acknowledged: readonly (readonly [string, string])[]): void {
  const app = stack.node.root;
  if (!(app instanceof App)) throw new TypeError('the stack is in no app');
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
  for (const [rule, reason] of acknowledged) {
    Validations.of(stack).acknowledge({ id: `AwsSolutions::AwsSolutions-${rule}`, reason });
  }
  app.synth();
}

test('the AWS Solutions rules find nothing that is not acknowledged with a reason', () => {
  expect(() => synthesise(stackOf(join(folder, 'all')), ACKNOWLEDGED)).not.toThrow();
});

test('a finding that is not acknowledged fails the synthesis', () => {
  const stack = stackOf(join(folder, 'but one'));
  expect(() => synthesise(stack, ACKNOWLEDGED.slice(1))).toThrow('server access logs disabled');
});
