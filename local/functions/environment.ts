import { REGION } from '../template/intrinsics.ts';
import type { FunctionPlan } from '../template/stack.ts';

export interface Keys {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

/** What functions are told instead of AWS's addresses. */
export interface Endpoints {
  readonly s3: string;
  readonly sqs: string;
  readonly dynamodb: string;
  readonly ssm: string;
  /** The model provider. */
  readonly provider: string;
}

/**
 * A function's whole environment: the template's variables and those that Lambda sets. Nothing of
 * the developer's shell comes through, or a function could work here by a variable that AWS lacks.
 */
export function environmentOf(
  plan: FunctionPlan,
  endpoints: Endpoints,
  keys: Keys,
): Record<string, string> {
  const { PATH, TMPDIR } = process.env;
  return {
    ...(PATH === undefined ? {} : { PATH }),
    ...(TMPDIR === undefined ? {} : { TMPDIR }),
    TZ: ':UTC',
    LANG: 'en_US.UTF-8',
    ...plan.environment,
    _HANDLER: plan.handler,
    LAMBDA_TASK_ROOT: plan.folder,
    AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs24.x',
    AWS_REGION: REGION,
    AWS_DEFAULT_REGION: REGION,
    AWS_LAMBDA_FUNCTION_NAME: plan.name,
    AWS_LAMBDA_FUNCTION_VERSION: '$LATEST',
    AWS_LAMBDA_FUNCTION_MEMORY_SIZE: String(plan.memoryMb),
    AWS_LAMBDA_LOG_GROUP_NAME: `/aws/lambda/${plan.name}`,
    AWS_LAMBDA_LOG_STREAM_NAME: 'local',
    AWS_LAMBDA_INITIALIZATION_TYPE: 'on-demand',
    AWS_ACCESS_KEY_ID: keys.accessKeyId,
    AWS_SECRET_ACCESS_KEY: keys.secretAccessKey,
    ...(keys.sessionToken === undefined ? {} : { AWS_SESSION_TOKEN: keys.sessionToken }),
    AWS_ENDPOINT_URL_S3: endpoints.s3,
    AWS_ENDPOINT_URL_SQS: endpoints.sqs,
    AWS_ENDPOINT_URL_DYNAMODB: endpoints.dynamodb,
    AWS_ENDPOINT_URL_SSM: endpoints.ssm,
    AWS_ENDPOINT_URL_BEDROCK_RUNTIME: endpoints.provider,
    OPENAI_BASE_URL: `${endpoints.provider}/v1`,
    ANTHROPIC_BASE_URL: endpoints.provider,
  };
}
