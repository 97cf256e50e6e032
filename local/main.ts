import '../cli/compile-cache.ts';
import { accessSync, constants, existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { makeFolder } from '../cli/make-folder.ts';
import { printable, printableLines } from '../cli/printable.ts';
import { readOptions } from '../cli/read-options.ts';
import { SAME_MS } from '../cli/stop-by-signals.ts';
import { UsageError } from '../cli/usage-error.ts';
import { announcementOf } from './announcement.ts';
import type { LocalCloud } from './cloud.ts';

const HELP = `Runs Glimpse on this machine: the stack that \`cdk deploy\` deploys, without an AWS account.

  npm start [-- options]

  --sample       upload the sample gallery, as the page offers to
  --reset        forget objects, items and messages of earlier runs first
  --state DIR    keep them in DIR instead of .glimpse
  --cdk-out DIR  run what \`cdk synth -c local=true\` wrote there, instead of synthesising
  --verbose      show what the functions log
  --help         show this

  PORT           the first of eight ports: pages, API, S3, SQS, DynamoDB, the model provider,
                 SSM, the issuer of tokens (4000; 0 for any)
  DYNOXIDE_BIN   another dynoxide than the one that npm installs
  DYNAMODB_ENDPOINT  a DynamoDB that already runs
  GLIMPSE_PROVIDER_KEY  the model provider's key, as SSM gives it to the functions
`;

/** For the thumbnails that are being made: one whose worker is ended is nobody's until its claim lapses. */
const GRACE_MS = 1500;

const root = resolve(import.meta.dirname, '..');

try {
  await run();
} catch (error) {
  console.error(`${printableLines(error instanceof Error ? error.message : String(error))}`);
  process.exit(error instanceof UsageError ? 2 : 1);
}

async function run(): Promise<void> {
  const values = readOptions(process.argv.slice(2), {
    'cdk-out': { type: 'string' },
    help: { type: 'boolean', default: false },
    reset: { type: 'boolean', default: false },
    sample: { type: 'boolean', default: false },
    state: { type: 'string', default: '.glimpse' },
    verbose: { type: 'boolean', default: false },
  });
  if (values.help) {
    console.log(HELP);
    return;
  }
  const port = readPort(process.env.PORT || '4000');
  console.log(
    'Glimpse starts on this machine; synthesis takes some seconds if something changed.\n',
  );
  const started = performance.now();
  const stateDir = resolve(root, values.state);
  let stoppedAt: number | undefined;
  let cloud: LocalCloud | undefined;
  const stop = async (code: number): Promise<void> => {
    if (stoppedAt !== undefined) {
      if (performance.now() - stoppedAt > SAME_MS) process.exit(code);
      return;
    }
    stoppedAt = performance.now();
    console.log('\nStopping…');
    if (cloud === undefined) {
      console.log('Stopped before it was ready.');
    } else {
      await cloud.stop(code === 0 ? GRACE_MS : 0);
      console.log(`Stopped; the state is kept in ${stateDir}.`);
    }
    process.exit(code);
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => void stop(0));
  }

  const cdkOut = values['cdk-out'] === undefined ? undefined : resolve(values['cdk-out']);
  requireFolders(stateDir, cdkOut);
  const tell = (line: string) => console.error(`\n  ${printable(line)}\n`);
  // Not before it is known that there is something to start.
  const { startLocalCloud } = await import('./cloud.ts');
  cloud = await startLocalCloud({
    root,
    stateDir,
    port,
    reset: values.reset,
    build: true,
    ...(cdkOut === undefined ? {} : { cdkOut }),
    progress: (step, ms) => console.log(`  ${step.padEnd(12)} ${seconds(ms)}`),
    onDenied: tell,
    onTrouble: tell,
    ...(values.verbose
      ? { onLog: (_name, text) => process.stdout.write(printableLines(text)) }
      : {}),
  });
  console.log(`  ${'ready'.padEnd(12)} ${seconds(performance.now() - started)}\n`);
  console.log(announcementOf(cloud.endpoints));
  if (values.sample) void uploadSample(cloud);
  else if (cloud.empty) {
    console.log('  No pictures yet: the page offers a sample gallery, as does `npm run sample`.');
  }
  console.log('  Ctrl-C stops it; what it holds stays.');
  const failure = await cloud.failed;
  // Whoever ends all processes at once ends the engines, too.
  if (stoppedAt !== undefined) return;
  console.error(`\n${failure}`);
  await stop(1);
}

async function uploadSample({ sample }: LocalCloud): Promise<void> {
  console.log('  The sample gallery is being uploaded.');
  const { state, done, message } = await sample.start();
  console.log(
    state === 'done'
      ? `  The sample gallery is there: ${done} pictures.`
      : `  The sample gallery could not be uploaded: ${printable(message ?? '')}`,
  );
}

/** @throws UsageError where nothing can be kept, or nothing was synthesised. */
function requireFolders(stateDir: string, cdkOut: string | undefined): void {
  try {
    makeFolder(stateDir);
    accessSync(stateDir, constants.W_OK);
  } catch (cause) {
    throw new UsageError(
      `--state: expected a folder that can be written to, got ${stateDir} (${codeOf(cause)}).`,
      { cause },
    );
  }
  if (cdkOut !== undefined && !existsSync(cdkOut)) {
    throw new UsageError(
      `--cdk-out: expected a folder that "cdk synth" has written, got ${cdkOut}, which is not there.`,
    );
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : String(error);
}

function readPort(text: string): number {
  const port = Number(text);
  if (/^\d+$/.test(text) && port <= 65_528) return port;
  throw new UsageError(
    `Expected PORT to be a whole number from 0 to 65528, got ${JSON.stringify(text)}.`,
  );
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}
