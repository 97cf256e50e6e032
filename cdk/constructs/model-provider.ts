import { Stack } from 'aws-cdk-lib';
import type { Mode } from '../../shared/fleet/allowance-settings.ts';
import type { Config } from '../config-schema.ts';
import { providerOf } from '../summaries-schema.ts';
import type { GlimpseFunction } from './glimpse-function.ts';

/** A prefix of Bedrock's inference profiles, which call a model in one of several regions. */
const PROFILE = /^(us|us-gov|eu|apac|jp|au|ca|global)\./;

/** Lets a function call its mode's model. The key stays where it is: the function gets the name of its parameter. */
export function useProvider(
  fn: GlimpseFunction,
  summaries: Config['summaries'],
  mode: Mode,
  connections: number,
): void {
  const provider = providerOf(summaries.provider, summaries[mode]);
  const stack = Stack.of(fn);
  const { keyParameter, ...called } = provider;
  const region = provider.region ?? stack.region;
  fn.use({
    variable: 'PROVIDER',
    value: stack.toJsonString({
      ...called,
      ...(provider.kind === 'bedrock' ? { region } : {}),
      callTimeoutMs: summaries.callTimeoutSeconds * 1000,
      connections,
    }),
    grants:
      provider.kind === 'bedrock'
        ? [
            {
              actions: ['bedrock:InvokeModel'],
              resources: bedrockModels(stack, provider.model, region),
            },
          ]
        : [],
  });
  if (keyParameter === undefined) return;
  fn.use({
    variable: 'PROVIDER_KEY_PARAMETER',
    value: keyParameter,
    grants: [
      {
        actions: ['ssm:GetParameter'],
        resources: [
          stack.formatArn({
            service: 'ssm',
            resource: 'parameter',
            resourceName: keyParameter.slice(1),
          }),
        ],
      },
    ],
  });
}

/** A profile is called by its own name, and the model behind it wherever the profile leads. */
function bedrockModels(stack: Stack, model: string, region: string): string[] {
  const foundation = (where: string, name: string) =>
    `arn:${stack.partition}:bedrock:${where}::foundation-model/${name}`;
  if (!PROFILE.test(model)) return [foundation(region, model)];
  return [
    `arn:${stack.partition}:bedrock:${region}:${stack.account}:inference-profile/${model}`,
    foundation('*', model.replace(PROFILE, '')),
  ];
}
