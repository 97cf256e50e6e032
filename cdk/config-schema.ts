import { z } from 'zod';
import { planFleet } from '../shared/fleet/plan.ts';
import { variantSchema } from '../shared/thumbnails/variant.ts';
import { authenticationSchema } from './authentication-schema.ts';
import { planInputOf } from './plan-input.ts';
import { summariesSchema } from './summaries-schema.ts';

const bucketName = z
  .string()
  .regex(/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/, "expected a bucket's name, not an ARN or a URL");

const origin = z
  .string()
  .regex(
    /^(\*|https?:\/\/[a-z0-9.-]+(:\d{1,5})?)$/i,
    "expected '*' or an origin such as https://shop.example, without a path",
  );

const topicArn = z
  .string()
  .regex(
    /^arn:aws[a-z-]*:sns:[a-z0-9-]+:\d{12}:[\w-]{1,256}$/,
    "expected the ARN of an SNS topic, such as 'arn:aws:sns:eu-west-1:123456789012:alarms'",
  );

/** The Lambda event source mapping takes 2 to 1,000; 1 cannot be configured. */
const concurrency = z.int().min(2).max(1000);

const configSchema = z
  .strictObject({
    variants: z.array(variantSchema).min(1).max(10),
    delivery: z.discriminatedUnion('kind', [
      /** URLs are stable for a window and live at least one more. Seconds, a minute to 12 hours. */
      z.strictObject({ kind: z.literal('presigned'), windowSeconds: z.int().min(60).max(43_200) }),
      z.strictObject({ kind: z.literal('public') }),
      z.strictObject({ kind: z.literal('cdn') }),
    ]),
    concurrency: z.strictObject({
      /** Images made at once for viewers who wait. */
      onDemand: concurrency,
      /** Images made at once after uploads and backfills. */
      eager: concurrency,
      /** New AWS accounts (limit 10) refuse any reservation: set false there. */
      reserved: z.boolean(),
      /** Executions at once that AWS grants the account in this region: 1,000 unless asked for more. */
      account: z.int().min(10).max(1_000_000),
    }),
    memoryMb: z.strictObject({
      api: z.int().min(256).max(10_240),
      /** 1,769 MB is one vCPU. Below 512 few pictures fit. */
      worker: z.int().min(512).max(10_240),
    }),
    architecture: z.enum(['arm64', 'x86_64']),
    authentication: authenticationSchema,
    /** What one caller may cause in a minute, so that no script runs up a bill. */
    bounds: z.strictObject({
      /** Images that are cold when they are asked for, whether they exist or not. */
      coldImages: z.int().min(1).max(1_000_000),
      /** Looks into a folder of the originals that the table does not know. */
      listings: z.int().min(1).max(100_000),
      /** New imports. */
      imports: z.int().min(1).max(100_000),
    }),
    /** Origins whose pages may call the API and upload. */
    allowedOrigins: z.array(origin).min(1).max(50),
    /** Buckets that exist already; the stack then neither creates nor configures them. */
    adopt: z.strictObject({
      originals: bucketName.optional(),
      thumbnails: bucketName.optional(),
    }),
    uploads: z.strictObject({
      /** The largest upload that the API signs, and the largest original that the worker reads. */
      maxBytes: z.int().min(1).max(500_000_000),
    }),
    /** The gallery's pages, and the variants that they show: in a grid, and one picture at a time. */
    pages: z.union([z.literal(false), z.strictObject({ grid: z.string(), large: z.string() })], {
      error: "expected false or the names of two variants, such as {grid: 'card', large: 'zoom'}",
    }),
    throttle: z.strictObject({
      requestsPerSecond: z.int().min(1).max(10_000),
      burst: z.int().min(1).max(5000),
    }),
    watching: z.strictObject({
      /** X-Ray traces of the functions; they cost by the request. */
      tracing: z.boolean(),
      /** An SNS topic of this account and region that is told of alarms. */
      alarmTopic: topicArn.optional(),
    }),
    summaries: summariesSchema,
  })
  .superRefine((config, context) => {
    const refuse = (path: (string | number)[], message: string) =>
      context.addIssue({ code: 'custom', path, message });
    config.variants.forEach(({ name }, index) => {
      if (config.variants.findIndex((other) => other.name === name) < index) {
        refuse(['variants', index, 'name'], `expected a name of its own, got "${name}" again`);
      }
    });
    const names = config.variants.map(({ name }) => name);
    for (const [use, name] of Object.entries(config.pages || {})) {
      if (!names.includes(name)) {
        refuse(['pages', use], `expected a variant, one of ${names.join(', ')}`);
      }
    }
    if (config.authentication.kind === 'iam' && config.pages !== false) {
      refuse(
        ['pages'],
        "expected false with authentication of the kind 'iam', got pages: browsers have no AWS credentials to sign with",
      );
    }
    if (config.delivery.kind !== 'presigned' && config.adopt.thumbnails !== undefined) {
      refuse(
        ['delivery', 'kind'],
        `expected 'presigned' with an adopted thumbnails bucket, got '${config.delivery.kind}': the stack cannot change the policy of a bucket that it does not own`,
      );
    }
    if (
      config.adopt.originals !== undefined &&
      config.adopt.originals === config.adopt.thumbnails
    ) {
      refuse(
        ['adopt', 'thumbnails'],
        'expected another bucket than the originals: thumbnails written there would be taken for originals',
      );
    }
  });

export type ConfigInput = z.input<typeof configSchema>;
export type Config = z.output<typeof configSchema>;

/** Throws one sentence that names the first wrong value, or the first that does not go with the others. */
export function parseConfig(input: unknown): Config {
  const config = readConfig(input);
  const error = planFleet(planInputOf(config)).checks.find(({ state }) => state === 'error');
  if (error !== undefined) throw new Error(`cdk/config.ts: ${error.path}: ${error.says}.`);
  return config;
}

/** Each value by itself, whatever plan follows from them. @throws one sentence that names the first wrong one. */
export function readConfig(input: unknown): Config {
  const parsed = configSchema.safeParse(input);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  if (issue === undefined) throw parsed.error;
  const path = issue.path.map((part) =>
    typeof part === 'number' ? `[${part}]` : `.${String(part)}`,
  );
  const name = path.join('').replace(/^\./, '') || 'config';
  const message = issue.message.replace(/^Invalid (?:input|option): |, received .*$/g, '');
  const got = message.includes(', got ') ? '' : came(input, issue.path);
  throw new Error(`cdk/config.ts: ${name}: ${message}${got}.`);
}

function came(input: unknown, path: PropertyKey[]): string {
  let value: unknown = input;
  for (const part of path) {
    if (typeof value !== 'object' || value === null) return '';
    value = Reflect.get(value, part);
  }
  if (value === undefined) return ', but it is not set';
  const text = JSON.stringify(value) ?? String(value);
  return text.length <= 80 ? `, got ${text}` : '';
}
