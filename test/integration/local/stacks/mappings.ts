import { arnOf, lambda, mapping, queue } from '../fixture-stack.ts';

// What a message asks for happens to it: the function reads its instructions from the body.
const OBEDIENT = `
const seen = {};
export const handler = async (event) => {
  console.log(JSON.stringify({ at: Date.now(), event }));
  const bodies = event.Records.map((record) => JSON.parse(record.body));
  for (const { sleepMs } of bodies) if (sleepMs) await new Promise((done) => setTimeout(done, sleepMs));
  for (const { exit } of bodies) if (exit) process.exit(3);
  for (const { fail } of bodies) if (fail) throw new Error('asked to fail');
  const answers = bodies.flatMap(({ answer }) => (answer === undefined ? [] : [answer]));
  if (answers.length > 0) return answers[0];
  const failed = event.Records.filter((record, index) => bodies[index].failItem);
  return { batchItemFailures: failed.map((record) => ({ itemIdentifier: record.messageId })) };
};`;

const retried = (deadLetters: string) => ({
  VisibilityTimeout: 1,
  RedrivePolicy: { deadLetterTargetArn: arnOf(deadLetters), maxReceiveCount: 2 },
});

export const resources = {
  Partial: queue(retried('PartialDead')),
  PartialDead: queue(),
  SummariesPartialReader: lambda('obedient'),
  PartialMapping: mapping('Partial', 'SummariesPartialReader'),
  Whole: queue(retried('WholeDead')),
  WholeDead: queue(),
  SummariesWholeReader: lambda('obedient'),
  WholeMapping: mapping('Whole', 'SummariesWholeReader', { FunctionResponseTypes: [] }),
  Busy: queue(retried('BusyDead')),
  BusyDead: queue(),
  SummariesBusyReader: lambda('obedient', { ReservedConcurrentExecutions: 1 }),
  BusyMapping: mapping('Busy', 'SummariesBusyReader', { BatchSize: 1 }),
  Windowed: queue(),
  SummariesGatherer: lambda('obedient'),
  WindowedMapping: mapping('Windowed', 'SummariesGatherer', {
    BatchSize: 100,
    MaximumBatchingWindowInSeconds: 1,
  }),
};

export const code = { obedient: OBEDIENT };
