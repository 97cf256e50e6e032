import { CloudFormationClient } from '@aws-sdk/client-cloudformation';
import { SSMClient } from '@aws-sdk/client-ssm';
import { tellFailures } from './aws-failure.ts';
import { type CallLimits, callSettings, LIMITS } from './call-limits.ts';

// What an account has that no stack names, by the shell's own settings.

export function openStacks(limits: CallLimits = LIMITS): CloudFormationClient {
  const stacks = new CloudFormationClient(callSettings(limits));
  return tellFailures(stacks, { service: 'CloudFormation', target: {}, limits });
}

export function openParameters(limits: CallLimits = LIMITS): SSMClient {
  const parameters = new SSMClient(callSettings(limits));
  return tellFailures(parameters, { service: 'SSM', target: {}, limits });
}
