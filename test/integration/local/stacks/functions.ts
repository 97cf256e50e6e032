import { lambda } from '../fixture-stack.ts';

const ODD = `
let count = 0;
export const handler = async (event, context) => {
  count += 1;
  if (event.sleepMs) await new Promise((done) => setTimeout(done, event.sleepMs));
  if (event.spin) for (;;);
  if (event.exit !== undefined) process.exit(event.exit);
  if (event.later) setTimeout(() => { throw new Error('too late'); }, 10);
  if (event.later) await new Promise(() => {});
  if (event.throws) throw new TypeError('not that way');
  if (event.fill) {
    const held = [];
    for (let mb = 0; mb < 400; mb += 10) {
      held.push(Buffer.alloc(10_000_000, 1));
      await new Promise((done) => setTimeout(done, 10));
    }
    return held.length;
  }
  if (event.log) console.log('said', event.log);
  return {
    count, pid: process.pid, env: process.env, nothing: undefined,
    context: { ...context, remaining: context.getRemainingTimeInMillis() },
  };
};`;

export const resources = {
  SummariesOdd: lambda('odd', {
    Timeout: 1,
    Environment: { Variables: { NODE_OPTIONS: '--enable-source-maps', OWN: 'x' } },
  }),
  SummariesTwo: lambda('odd', { ReservedConcurrentExecutions: 2 }),
  SummariesSmall: lambda('odd', { MemorySize: 128, Timeout: 20 }),
  SummariesBroken: lambda('broken'),
  SummariesNameless: lambda('nameless'),
  SummariesSlow: lambda('slow', { Timeout: 40 }),
  SummariesEndless: lambda('endless', { Timeout: 1 }),
};

export const code = {
  odd: ODD,
  slow: `await new Promise((done) => setTimeout(done, 10_500)); export const handler = () => 'up';`,
  endless:
    'await new Promise((done) => setTimeout(done, 600_000)); export const handler = () => {};',
  broken: 'throw new Error("no start");',
  nameless: 'export const other = 1;',
};
