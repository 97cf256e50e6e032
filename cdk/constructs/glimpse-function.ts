import { Aws, type Duration, RemovalPolicy } from 'aws-cdk-lib';
import { PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Architecture, Runtime, Tracing } from 'aws-cdk-lib/aws-lambda';
import { NodejsFunction, type NodejsFunctionProps } from 'aws-cdk-lib/aws-lambda-nodejs';
import { LogGroup, RetentionDays } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import type { Config } from '../config-schema.ts';
import { bundle, withSharp } from './bundle.ts';

export interface GlimpseFunctionProps {
  /** The function's folder below `functions/`. */
  folder: string;
  description: string;
  config: Config;
  local: boolean;
  memoryMb: number;
  timeout: Duration;
  reservedConcurrency?: number;
  usesSharp?: boolean;
}

/** Something that a function uses: the variable that names it and the calls it may make, together. */
export interface Use {
  variable: string;
  value: string;
  grants: readonly { actions: readonly string[]; resources: readonly string[] }[];
}

export class GlimpseFunction extends NodejsFunction {
  constructor(scope: Construct, id: string, props: GlimpseFunctionProps) {
    const { config, folder, reservedConcurrency } = props;
    const logGroup = new LogGroup(scope, `${id}Logs`, {
      retention: RetentionDays.ONE_MONTH,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    // The managed policy that Lambda roles usually have may write every log of the account.
    const role = new Role(scope, `${id}Role`, {
      assumedBy: new ServicePrincipal('lambda.amazonaws.com'),
    });
    logGroup.grantWrite(role);
    super(scope, id, {
      ...code(props),
      description: props.description,
      runtime: Runtime.NODEJS_24_X,
      architecture: config.architecture === 'arm64' ? Architecture.ARM_64 : Architecture.X86_64,
      memorySize: props.memoryMb,
      // ACTIVE brings the role's grant along.
      ...(config.watching.tracing ? { tracing: Tracing.ACTIVE } : {}),
      timeout: props.timeout,
      ...(reservedConcurrency === undefined
        ? {}
        : { reservedConcurrentExecutions: reservedConcurrency }),
      environment: {
        NODE_OPTIONS: '--enable-source-maps',
        POWERTOOLS_SERVICE_NAME: folder,
        // A stage's metrics are its own.
        POWERTOOLS_METRICS_NAMESPACE: Aws.STACK_NAME,
        // glibc otherwise keeps an arena a thread, which libvips' threads turn into lost memory.
        ...(props.usesSharp ? { MALLOC_ARENA_MAX: '2' } : {}),
      },
      role,
      logGroup,
    });
  }

  use({ variable, value, grants }: Use): this {
    this.addEnvironment(variable, value);
    for (const { actions, resources } of grants) {
      this.addToRolePolicy(
        new PolicyStatement({ actions: [...actions], resources: [...resources] }),
      );
    }
    return this;
  }
}

/** Locally a bundle finds the sharp that `npm ci` put here, so that a start needs no network. */
function code({ folder, config, local, usesSharp }: GlimpseFunctionProps): NodejsFunctionProps {
  if (usesSharp !== true) return { code: bundle(folder), handler: 'index.handler' };
  if (local) return { code: bundle(folder, ['sharp']), handler: 'index.handler' };
  return {
    entry: new URL(`../../functions/${folder}/handler.ts`, import.meta.url).pathname,
    depsLockFilePath: new URL('../../package-lock.json', import.meta.url).pathname,
    bundling: withSharp(config),
  };
}
