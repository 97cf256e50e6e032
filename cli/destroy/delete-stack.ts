import {
  type CloudFormationClient,
  DeleteStackCommand,
  DescribeStackEventsCommand,
  DescribeStacksCommand,
  type Stack,
} from '@aws-sdk/client-cloudformation';

/** Undefined where there is none of this name. */
export async function findStack(
  stacks: CloudFormationClient,
  nameOrId: string,
): Promise<Stack | undefined> {
  try {
    const { Stacks } = await stacks.send(new DescribeStacksCommand({ StackName: nameOrId }));
    return Stacks?.[0];
  } catch (error) {
    // CloudFormation's answer for a stack that is not there is that the name is wrong.
    if (error instanceof Error && /does not exist/.test(error.message)) return undefined;
    throw error;
  }
}

export interface Deletion {
  state: 'deleting' | 'deleted' | 'failed';
  seconds: number;
  /** Why, where it failed: a sentence a resource. */
  reasons: string[];
}

/** Deletes a stack and tells how it goes, each time `pause` ends. @throws where AWS cannot be asked. */
export async function* deleteStack(
  stacks: CloudFormationClient,
  stackId: string,
  pause: () => Promise<unknown>,
): AsyncGenerator<Deletion> {
  const started = performance.now();
  await stacks.send(new DeleteStackCommand({ StackName: stackId }));
  for (;;) {
    const status = (await findStack(stacks, stackId))?.StackStatus ?? 'DELETE_COMPLETE';
    const seconds = (performance.now() - started) / 1000;
    if (status === 'DELETE_COMPLETE') {
      yield { state: 'deleted', seconds, reasons: [] };
      return;
    }
    if (status === 'DELETE_FAILED') {
      yield { state: 'failed', seconds, reasons: await reasonsOf(stacks, stackId) };
      return;
    }
    yield { state: 'deleting', seconds, reasons: [] };
    await pause();
  }
}

async function reasonsOf(stacks: CloudFormationClient, stackId: string): Promise<string[]> {
  const { StackEvents = [] } = await stacks.send(
    new DescribeStackEventsCommand({ StackName: stackId }),
  );
  return StackEvents.filter(({ ResourceStatus }) => ResourceStatus === 'DELETE_FAILED').map(
    ({ LogicalResourceId, ResourceStatusReason }) =>
      `${LogicalResourceId}: ${ResourceStatusReason ?? 'no reason given'}`,
  );
}
