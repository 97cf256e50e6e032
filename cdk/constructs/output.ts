import { CfnOutput } from 'aws-cdk-lib';
import type { Construct } from 'constructs';

/** An output under its own name, without the hash that CDK adds. */
export function output(scope: Construct, name: string, value: string): void {
  new CfnOutput(scope, `${name}Output`, { value }).overrideLogicalId(name);
}
