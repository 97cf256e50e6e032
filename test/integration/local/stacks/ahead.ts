import { lambda, mapping, queue } from '../fixture-stack.ts';

const LOUD = `console.log('loaded'); export const handler = async () => ({ statusCode: 200, body: '' });`;

/** Takes its time to load, and then to answer. */
const HEAVY = `
console.log('load', Date.now());
await new Promise((done) => setTimeout(done, 300));
console.log('there', Date.now());
export const handler = async () => { await new Promise((done) => setTimeout(done, 3000)); };`;

const sendsTo = (name: string) => ({
  Environment: { Variables: { QUEUE_URL: { Ref: name } } },
});

export const routes = { 'GET /files': 'SummariesApi', 'POST /files': 'SummariesApi' };

export const resources = {
  SummariesFiles: queue(),
  SummariesRows: queue(),
  // It knows both, and what reads the second is called by what reads the first.
  SummariesApi: lambda('loud', {
    Environment: {
      Variables: { FILES_URL: { Ref: 'SummariesFiles' }, ROWS_URL: { Ref: 'SummariesRows' } },
    },
  }),
  SummariesReader: lambda('loud', sendsTo('SummariesRows')),
  SummariesWorker: lambda('loud'),
  FilesMapping: mapping('SummariesFiles', 'SummariesReader'),
  RowsMapping: mapping('SummariesRows', 'SummariesWorker'),
  Many: queue(),
  // What it reserves is in nobody's way, for as long as it takes.
  SummariesCrowd: lambda('heavy', { ReservedConcurrentExecutions: 6 }),
  ManyMapping: mapping('Many', 'SummariesCrowd', {
    BatchSize: 1,
    ScalingConfig: { MaximumConcurrency: 6 },
  }),
};

export const code = { loud: LOUD, heavy: HEAVY };
