import './compile-cache.ts';
import type { Message } from '@aws-sdk/client-sqs';
import { printable } from './printable.ts';
import { createProgress } from './progress.ts';
import { readOptions, wholeNumber } from './read-options.ts';
import type { Moved } from './redrive/move-messages.ts';
import { INTERRUPTED, stopBySignals } from './stop-by-signals.ts';
import type { Target } from './target.ts';
import { tellFailure } from './tell-failure.ts';
import { UsageError } from './usage-error.ts';

const QUEUES = {
  'on-demand': 'OnDemandQueueUrl',
  eager: 'EagerQueueUrl',
  jobs: 'JobsQueueUrl',
  interactive: 'InteractiveQueueUrl',
  bulk: 'BulkQueueUrl',
} as const satisfies Record<string, keyof Target['outputs']>;

const HELP = `Sends what is in a dead-letter queue to its queue again, once the cause is repaired.

  npm run redrive -- --queue Q [options]

  --queue Q         ${Object.keys(QUEUES).join(', ')}
  --dry-run         says what is there, and moves nothing
  --max N           at most so many messages; all that are there at first without it
  --outputs FILE    a deployed stack, by the file that "npm run deploy" writes (cdk-outputs.json);
                    without it, the local cloud that "npm start" runs
  --state DIR       the local cloud's, where "npm start -- --state DIR" has another than .glimpse
  --json            one line of JSON for a program: {queue, deadLetters, inFlight, moved, refused},
                    and {error} where it went wrong
  --help

Dead letters are read by a function that records them on their image or rows, so that what waits here is what
even that could not do: an alarm has said so. What it has recorded is asked for again by "npm run backfill", and
by an import's Retry. Ctrl-C stops after the batch that is on its way. It ends with 0 when all is moved, with 1
where some were refused or AWS did not answer, and with 2 if it was called wrongly.`;

async function main(): Promise<void> {
  const values = readOptions(process.argv.slice(2), {
    queue: { type: 'string' },
    'dry-run': { type: 'boolean', default: false },
    max: { type: 'string' },
    outputs: { type: 'string' },
    state: { type: 'string', default: '.glimpse' },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  });
  if (values.help) {
    console.log(HELP);
    return;
  }
  const { queue } = values;
  const known = Object.keys(QUEUES).join(', ');
  if (queue === undefined) throw new UsageError(`Expected --queue, one of ${known}. See --help.`);
  if (!isQueue(queue)) throw new UsageError(`--queue: expected one of ${known}, got ${queue}.`);
  const max =
    values.max === undefined
      ? Number.POSITIVE_INFINITY
      : wholeNumber('--max', values.max, 1, 999_999_999);
  // Not before it is known what to send.
  const { openTarget } = await import('./target.ts');
  const target = await openTarget(values.outputs, values.state);
  const url = target.outputs[QUEUES[queue]];
  if (url === undefined) {
    throw new UsageError(
      `Expected the output ${QUEUES[queue]} of ${target.description}, got none: deploy it again with this version.`,
    );
  }
  const { openClients } = await import('./clients.ts');
  const { findDeadLetters, moveMessages, peek } = await import('./redrive/move-messages.ts');
  const { sqs } = openClients(target);
  const deadLetters = await findDeadLetters(sqs, url);
  const { visible, inFlight } = deadLetters;
  const tell = (tally: Moved) => {
    if (!values.json) return;
    console.log(JSON.stringify({ queue, deadLetters: visible, inFlight, ...tally }));
  };
  if (!values.json) {
    console.log(`${count(visible)} dead letters of the ${queue} queue of ${target.description}`);
    if (inFlight > 0) console.log(`${count(inFlight)} more are in somebody’s hands just now`);
  }
  if (values['dry-run']) {
    if (!values.json && visible > 0) for (const each of await peek(sqs, deadLetters)) show(each);
    tell({ moved: 0, refused: 0 });
    return;
  }
  const signal = stopBySignals('the batch under way is moved');
  const most = Math.min(visible, max);
  const progress = createProgress();
  let tally: Moved = { moved: 0, refused: 0 };
  for await (tally of moveMessages(sqs, deadLetters, url, { most, signal })) {
    progress.show(`${count(tally.moved)} moved`);
  }
  progress.end();
  tell(tally);
  if (!values.json) console.log(`${count(tally.moved)} moved, ${count(tally.refused)} refused`);
  if (signal.aborted) process.exitCode = INTERRUPTED;
  else if (tally.refused > 0) process.exitCode = 1;
}

function isQueue(name: string): name is keyof typeof QUEUES {
  return Object.hasOwn(QUEUES, name);
}

/** Characters of a message that are shown. */
const SHOWN = 200;

function show({ Body = '', Attributes = {} }: Message): void {
  const sent = new Date(Number(Attributes.SentTimestamp ?? 0)).toISOString();
  console.log(`  ${sent}  ${printable(Body.slice(0, SHOWN))}${Body.length > SHOWN ? '…' : ''}`);
}

const count = (value: number) => value.toLocaleString('en');

try {
  await main();
} catch (error) {
  tellFailure('redrive', error, process.argv.slice(2));
}
