import { ACCOUNT, REGION } from '../template/intrinsics.ts';
import type { PermissionPlan, StackPlan } from '../template/stack.ts';
import type { Authority, Call } from './authority.ts';

// What AWS asks before it calls a function or a queue in somebody's name. It asks when a stack is
// deployed, and refuses the deployment; only what invokes a function is asked each time.

/** Whether a service may invoke a function for that. */
export type MayInvoke = (functionName: string, sourceArn: string) => boolean;

/** @param tell hears once of each function that a service may not invoke. */
export function createMayInvoke(
  permissions: readonly PermissionPlan[],
  service: string,
  tell: (line: string) => void,
): MayInvoke {
  const granted = permissions
    .filter((permission) => permission.service === service)
    .map(({ functionName, sourceArn = '*' }) => ({ functionName, source: patternOf(sourceArn) }));
  const told = new Set<string>();
  return (functionName, sourceArn) => {
    const may = granted.some(
      (permission) => permission.functionName === functionName && permission.source.test(sourceArn),
    );
    const line = `AccessDenied: ${service} may not invoke the function ${functionName} for ${sourceArn}: the template has no AWS::Lambda::Permission for it.`;
    if (!may && !told.has(line)) tell(line);
    if (!may) told.add(line);
    return may;
  };
}

function patternOf(sourceArn: string): RegExp {
  const escaped = sourceArn.replace(/[.+?^${}()|[\]\\]/g, '\\$&').replaceAll('*', '.*');
  return new RegExp(`^${escaped}$`);
}

/** For which API Gateway invokes a route's function: `GET /imports/{id}`, or `$default`. */
export function routeArn(apiId: string, routeKey: string): string {
  const route = routeKey.replace(' ', '');
  return `arn:aws:execute-api:${REGION}:${ACCOUNT}:${apiId}/$default/${route}`;
}

/** Lambda's pollers call these in the name of the function's role. */
const POLLS = ['sqs:ReceiveMessage', 'sqs:DeleteMessage'];
/** And this when a mapping is made, to see whether its queue's time-outs fit. */
const LOOKS = 'sqs:GetQueueAttributes';

/** @throws an error about what AWS would refuse to deploy, which names the first grant that is missing. */
export function assertDeployable(plan: StackPlan, authority: Authority): void {
  for (const { queueArn, functionName } of plan.mappings) {
    const roleArn = plan.functions.find(({ name }) => name === functionName)?.roleArn ?? '';
    const caller = { kind: 'function', functionName, roleArn } as const;
    const what = `the mapping of ${queueArn} to ${functionName}`;
    for (const action of POLLS) {
      refuse(authority.wouldRefuse(caller, { action, resource: queueArn }), what);
    }
    refuse(authority.refusal(caller, { action: LOOKS, resource: queueArn }), what);
  }
  for (const { name, notifications } of plan.buckets) {
    const context = { 'aws:sourceaccount': ACCOUNT, 'aws:sourcearn': `arn:aws:s3:::${name}` };
    const caller = { kind: 'service', name: 's3.amazonaws.com', context } as const;
    for (const { queueArn } of notifications) {
      const call: Call = { action: 'sqs:SendMessage', resource: queueArn };
      refuse(authority.wouldRefuse(caller, call), `the notifications of ${name} to ${queueArn}`);
    }
  }
}

function refuse(refusal: string | undefined, what: string): void {
  if (refusal === undefined) return;
  throw new Error(`AWS would refuse to deploy ${what}: ${refusal}.`);
}
