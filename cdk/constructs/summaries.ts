import { Duration } from 'aws-cdk-lib';
import { HttpMethod } from 'aws-cdk-lib/aws-apigatewayv2';
import type { MathExpression } from 'aws-cdk-lib/aws-cloudwatch';
import { Rule, Schedule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction } from 'aws-cdk-lib/aws-events-targets';
import type { IBucket } from 'aws-cdk-lib/aws-s3';
import type { Queue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import type { Mode } from '../../shared/fleet/allowance-settings.ts';
import { lineOf, MODES, type Numbers, planNumbers } from '../../shared/fleet/numbers.ts';
import type { ImportLimits } from '../../shared/imports/import-limits.ts';
import type { ModelSettings } from '../../shared/summaries/model-settings.ts';
import type { Config } from '../config-schema.ts';
import { INTAKE_CONCURRENCY, planInputOf, REAPER_CONCURRENCY } from '../plan-input.ts';
import { alarm, EACH_MINUTE } from './alarm.ts';
import type { Api } from './api.ts';
import { notify } from './buckets.ts';
import { FleetTable } from './fleet-table.ts';
import { GlimpseFunction, type Use } from './glimpse-function.ts';
import { ImportsStorage } from './imports-storage.ts';
import { useProvider } from './model-provider.ts';
import { summaryMetric } from './observability/own-metric.ts';
import { worked } from './observability/widgets.ts';
import { output } from './output.ts';
import { WorkQueue } from './work-queue.ts';

const ROUTES = [
  [HttpMethod.POST, '/imports'],
  [HttpMethod.GET, '/imports'],
  [HttpMethod.GET, '/imports/{id}'],
  [HttpMethod.GET, '/imports/{id}/rows'],
  [HttpMethod.POST, '/imports/{id}/pause'],
  [HttpMethod.POST, '/imports/{id}/resume'],
  [HttpMethod.POST, '/imports/{id}/cancel'],
  [HttpMethod.POST, '/imports/{id}/retry'],
  [HttpMethod.POST, '/imports/{id}/estimate'],
  [HttpMethod.GET, '/imports/{id}/export'],
  [HttpMethod.GET, '/fleet'],
] as const;

/** Age of the oldest chunk of an import that somebody watches, from which on somebody is woken. */
export const WAIT_SECONDS = 60;
/** Per cent of the calls: a refused call spends the account too. */
const REFUSED_PERCENT = 5;
const FAILED_PERCENT = 20;

/** The HTTP API gives up after 30. */
const API_TIMEOUT = Duration.seconds(29);
/** Lambda's longest: a file is read in one pass. */
const INTAKE_TIMEOUT = Duration.seconds(900);
const FAILURES_TIMEOUT = Duration.seconds(30);
/** As long as it is until the next one begins: it looks again when what it has seen may have changed. */
const REAPER_TIMEOUT = Duration.seconds(60);
const SMALL_MB = 256;

/** Everything that turns a file's rows into summaries. */
export class Summaries extends Construct {
  readonly #config: Config;
  readonly #local: boolean;
  readonly #storage: ImportsStorage;
  readonly plan: Numbers;
  readonly queues: Readonly<Record<Mode | 'jobs', Queue>>;
  readonly workers: Readonly<Record<Mode, GlimpseFunction>>;
  readonly intake: GlimpseFunction;
  readonly reaper: GlimpseFunction;
  /** All of them. */
  readonly functions: readonly GlimpseFunction[];
  readonly #fleet: FleetTable;

  /** Where browsers upload files to. */
  get imports(): IBucket {
    return this.#storage.bucket;
  }

  constructor(scope: Construct, id: string, props: { config: Config; local: boolean; api: Api }) {
    super(scope, id);
    const { config } = props;
    this.#config = config;
    this.#local = props.local;
    this.#storage = new ImportsStorage(this, config);
    this.plan = planNumbers(planInputOf(config));
    this.#fleet = new FleetTable(this);

    const failures = this.#failures();
    const intake = this.#intake();
    const workers = {
      interactive: this.#worker('InteractiveWorker', 'interactive'),
      bulk: this.#worker('BulkWorker', 'bulk'),
    };
    const jobs = new WorkQueue(this, 'Jobs', {
      worker: intake,
      workerTimeout: INTAKE_TIMEOUT,
      batchSize: 1,
      maxConcurrency: INTAKE_CONCURRENCY,
      failures,
      failuresTimeout: FAILURES_TIMEOUT,
      whenGivenUp: 'Files or exports were given up and not yet recorded as failed',
    }).queue;
    const chunks = {
      interactive: this.#chunks('Interactive', 'interactive', workers.interactive, failures),
      bulk: this.#chunks('Bulk', 'bulk', workers.bulk, failures),
    };
    notify(this, this.#storage.bucket, jobs, ['s3:ObjectCreated:*'], 'sources/');

    const sendsChunks = [
      sends('INTERACTIVE_QUEUE_URL', chunks.interactive),
      sends('BULK_QUEUE_URL', chunks.bulk),
    ];
    intake.use(handsBack('JOBS_QUEUE_URL', jobs));
    for (const use of sendsChunks) intake.use(use);
    for (const mode of MODES) {
      workers[mode].use(sends('QUEUE_URL', chunks[mode])).use(handsBack('QUEUE_URL', chunks[mode]));
    }

    const api = this.#api()
      .use(sends('JOBS_QUEUE_URL', jobs))
      .use(counts('INTERACTIVE_QUEUE_URL', chunks.interactive))
      .use(counts('BULK_QUEUE_URL', chunks.bulk));
    props.api.route(api, ROUTES);
    const reaper = this.#reaper()
      .use(sends('JOBS_QUEUE_URL', jobs))
      .use(counts('INTERACTIVE_QUEUE_URL', chunks.interactive))
      .use(counts('BULK_QUEUE_URL', chunks.bulk));
    for (const use of sendsChunks) reaper.use(use);
    new Rule(this, 'EachMinute', {
      description: 'Looks for imports that make no progress',
      schedule: Schedule.rate(Duration.minutes(1)),
      targets: [new LambdaFunction(reaper)],
    });

    this.queues = { jobs, ...chunks };
    this.workers = workers;
    this.intake = intake;
    this.reaper = reaper;
    this.functions = [api, intake, reaper, failures, workers.interactive, workers.bulk];
    this.#alarms({ intake, reaper, ...workers }, chunks.interactive);
    // What the command line needs to know.
    output(this, 'ImportsBucket', this.#storage.bucket.bucketName);
    output(this, 'ImportsTable', this.#storage.table.tableName);
    output(this, 'FleetTable', this.#fleet.table.tableName);
    output(this, 'JobsQueueUrl', jobs.queueUrl);
    output(this, 'InteractiveQueueUrl', chunks.interactive.queueUrl);
    output(this, 'BulkQueueUrl', chunks.bulk.queueUrl);
  }

  #api(): GlimpseFunction {
    const fn = new GlimpseFunction(this, 'Api', {
      folder: 'import-api',
      description: 'Answers what is asked of imports, and starts them',
      config: this.#config,
      local: this.#local,
      memoryMb: this.#config.memoryMb.api,
      timeout: API_TIMEOUT,
    })
      .use(this.#storage.items('listed', 'owned', 'active'))
      // Forms and URLs can do what their signer may: upload a source, download an export.
      .use(this.#storage.files({ reads: ['exports'], writes: ['sources'], lists: false }))
      .use(this.#fleet.readings())
      .use({ variable: 'PLAN', value: JSON.stringify(planInputOf(this.#config)), grants: [] })
      .use({ variable: 'AUTHENTICATION', value: this.#config.authentication.kind, grants: [] })
      .use({ variable: 'BOUNDS', value: JSON.stringify(this.#config.bounds), grants: [] });
    for (const use of this.#settings()) fn.use(use);
    return fn;
  }

  #intake(): GlimpseFunction {
    const { summaries, concurrency } = this.#config;
    const files = this.#storage.files({
      reads: ['sources', 'chunks'],
      writes: ['chunks', 'exports'],
      lists: true,
    });
    const fn = new GlimpseFunction(this, 'Intake', {
      folder: 'import-intake',
      description: 'Reads a file in one pass, sends its chunks, writes its export',
      config: this.#config,
      local: this.#local,
      memoryMb: summaries.memoryMb.intake,
      timeout: INTAKE_TIMEOUT,
      ...(concurrency.reserved ? { reservedConcurrency: INTAKE_CONCURRENCY } : {}),
    })
      .use(this.#storage.items())
      .use({ ...files, grants: [...files.grants, ...this.#storage.abortingOf('exports')] });
    for (const use of this.#settings()) fn.use(use);
    return fn;
  }

  #worker(id: string, mode: Mode): GlimpseFunction {
    const { summaries, concurrency } = this.#config;
    const { gate, processes, connections } = this.plan[mode];
    const fn = new GlimpseFunction(this, id, {
      folder: 'chunk-worker',
      description:
        mode === 'interactive'
          ? 'Summarises rows while somebody watches'
          : 'Summarises rows that nobody waits for',
      config: this.#config,
      local: this.#local,
      memoryMb: summaries.memoryMb.worker,
      timeout: Duration.seconds(summaries.workerTimeoutSeconds),
      // The ceiling that no backlog lifts, and that of its mapping.
      ...(concurrency.reserved ? { reservedConcurrency: processes } : {}),
    })
      .use(this.#storage.items())
      .use(this.#storage.files({ reads: ['chunks'], lists: true }))
      .use({ variable: 'GATE', value: String(gate), grants: [] })
      .use({ variable: 'MODE', value: mode, grants: [] })
      .use(this.#fleet.state())
      .use({
        variable: 'ALLOWANCE',
        value: JSON.stringify(lineOf(this.plan, mode).allowance),
        grants: [],
      });
    for (const use of this.#settings()) fn.use(use);
    useProvider(fn, summaries, mode, connections);
    return fn;
  }

  #chunks(id: string, mode: Mode, worker: GlimpseFunction, failures: GlimpseFunction): Queue {
    const { workerTimeoutSeconds } = this.#config.summaries;
    const { batchChunks, processes } = this.plan[mode];
    return new WorkQueue(this, id, {
      worker,
      workerTimeout: Duration.seconds(workerTimeoutSeconds),
      batchSize: batchChunks,
      maxConcurrency: processes,
      failures,
      failuresTimeout: FAILURES_TIMEOUT,
      whenGivenUp: `Chunks of ${mode} imports were given up and their rows not yet recorded as failed`,
    }).queue;
  }

  #failures(): GlimpseFunction {
    return (
      new GlimpseFunction(this, 'Failures', {
        folder: 'chunk-failures',
        description: 'Records on the import what was given up',
        config: this.#config,
        local: this.#local,
        memoryMb: SMALL_MB,
        timeout: FAILURES_TIMEOUT,
      })
        .use(this.#storage.items())
        // Without the chunk's object, for whatever reason, rows are named by their numbers.
        .use(this.#storage.files({ reads: ['chunks'], lists: false }))
    );
  }

  #reaper(): GlimpseFunction {
    const { concurrency, summaries } = this.#config;
    return new GlimpseFunction(this, 'Reaper', {
      folder: 'import-reaper',
      description: 'Names what is stalled and why, and sends it again or closes it',
      config: this.#config,
      local: this.#local,
      memoryMb: SMALL_MB,
      timeout: REAPER_TIMEOUT,
      ...(concurrency.reserved ? { reservedConcurrency: REAPER_CONCURRENCY } : {}),
    })
      .use(this.#storage.items('active'))
      .use(this.#storage.files({ reads: ['chunks'], lists: false }))
      .use({ variable: 'STALLED', value: JSON.stringify(summaries.stalled), grants: [] });
  }

  /** What a file may be, what a row costs and what the model is asked. */
  #settings(): Use[] {
    const { limits, chunkRows, retention, provider, prices, prompt } = this.#config.summaries;
    const { kind, model } = provider;
    const importLimits: ImportLimits = { ...limits, chunkRows, ...retention };
    const modelSettings: ModelSettings = { kind, model, prices };
    return [
      { variable: 'LIMITS', value: JSON.stringify(importLimits), grants: [] },
      { variable: 'MODEL', value: JSON.stringify(modelSettings), grants: [] },
      { variable: 'PROMPT', value: JSON.stringify(prompt), grants: [] },
    ];
  }

  #alarms(
    { reaper, ...fed }: Record<'intake' | 'interactive' | 'bulk' | 'reaper', GlimpseFunction>,
    interactive: Queue,
  ): void {
    for (const [name, fn] of Object.entries(fed)) {
      const id = `${name.charAt(0).toUpperCase()}${name.slice(1)}ThrottlesAlarm`;
      alarm(this, id, {
        means: `The ${name} function is throttled: its mapping is configured past its concurrency`,
        metric: fn.metricThrottles(EACH_MINUTE),
        threshold: 0,
      });
    }
    alarm(this, 'WaitAlarm', {
      means: 'Somebody watches an import whose chunks wait more than a minute',
      metric: interactive.metricApproximateAgeOfOldestMessage(EACH_MINUTE),
      threshold: WAIT_SECONDS,
    });
    alarm(this, 'GivenUpAlarm', {
      means: 'Chunks were given up after their last retry; the failures log names them',
      metric: summaryMetric('ChunksGivenUp', {}),
      threshold: 0,
    });
    alarm(this, 'StalledAlarm', {
      means: 'Imports make no progress; the reaper log says which and why',
      metric: summaryMetric('ImportsStalled', {}),
      threshold: 0,
    });
    alarm(this, 'ReaperErrorsAlarm', {
      means: 'The reaper fails, so that nobody watches over imports',
      metric: reaper.metricErrors(EACH_MINUTE),
      threshold: 0,
    });
    alarm(this, 'RefusedAlarm', {
      means: `The provider refuses more than ${REFUSED_PERCENT} % of the calls for their rate`,
      metric: shareOfCalls('refused for the rate, %', 'CallsRefused'),
      threshold: REFUSED_PERCENT,
      minutes: 3,
      of: 5,
    });
    alarm(this, 'ProviderAlarm', {
      means: `More than ${FAILED_PERCENT} % of the calls fail, for another reason than their rate`,
      metric: shareOfCalls('failed, %', 'CallsFailed'),
      threshold: FAILED_PERCENT,
      minutes: 3,
      of: 5,
    });
  }
}

/** Per cent of the calls of both modes. */
function shareOfCalls(label: string, name: 'CallsRefused' | 'CallsFailed'): MathExpression {
  return worked(
    label,
    '100 * (FILL(part_i, 0) + FILL(part_b, 0)) / (FILL(calls_i, 0) + FILL(calls_b, 0))',
    {
      part_i: summaryMetric(name, {}, { mode: 'interactive' }),
      part_b: summaryMetric(name, {}, { mode: 'bulk' }),
      calls_i: summaryMetric('Calls', {}, { mode: 'interactive' }),
      calls_b: summaryMetric('Calls', {}, { mode: 'bulk' }),
    },
  );
}

function sends(variable: string, queue: Queue): Use {
  return {
    variable,
    value: queue.queueUrl,
    grants: [{ actions: ['sqs:SendMessage'], resources: [queue.queueArn] }],
  };
}

/** How many messages there are, and no look at any. */
function counts(variable: string, queue: Queue): Use {
  return {
    variable,
    value: queue.queueUrl,
    grants: [{ actions: ['sqs:GetQueueAttributes'], resources: [queue.queueArn] }],
  };
}

/** A message comes back when its cause asks for it, not when the queue's visibility ends. */
function handsBack(variable: string, queue: Queue): Use {
  return {
    variable,
    value: queue.queueUrl,
    grants: [{ actions: ['sqs:ChangeMessageVisibility'], resources: [queue.queueArn] }],
  };
}
