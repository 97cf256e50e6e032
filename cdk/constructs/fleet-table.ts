import { RemovalPolicy } from 'aws-cdk-lib';
import { AttributeType, BillingMode, Table } from 'aws-cdk-lib/aws-dynamodb';
import type { Construct } from 'constructs';
import type { Use } from './glimpse-function.ts';

/** What the workers of an account tell each other, and what they have done lately. */
export class FleetTable {
  readonly table: Table;

  constructor(scope: Construct) {
    this.table = new Table(scope, 'FleetTable', {
      partitionKey: { name: 'line', type: AttributeType.STRING },
      sortKey: { name: 'at', type: AttributeType.NUMBER },
      billingMode: BillingMode.PAY_PER_REQUEST,
      timeToLiveAttribute: 'ttl',
      // It is of the last minutes alone: a new one begins where the old one was.
      removalPolicy: RemovalPolicy.DESTROY,
    });
  }

  /** The state of a line, which its processes add to and look at. */
  state(): Use {
    const actions = ['dynamodb:GetItem', 'dynamodb:UpdateItem'];
    return {
      variable: 'FLEET_TABLE',
      value: this.table.tableName,
      grants: [{ actions, resources: [this.table.tableArn] }],
    };
  }

  /** What is measured, and the state of a line: looked at, not changed. */
  readings(): Use {
    return {
      variable: 'FLEET_TABLE',
      value: this.table.tableName,
      grants: [
        { actions: ['dynamodb:GetItem', 'dynamodb:Query'], resources: [this.table.tableArn] },
      ],
    };
  }
}
