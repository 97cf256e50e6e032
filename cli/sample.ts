import './compile-cache.ts';
import { readOptions } from './read-options.ts';
import { tellFailure } from './tell-failure.ts';

const helpOf = (
  pictures: number,
) => `Puts a gallery of ${pictures} pictures into the originals bucket, to have something to look at.

  npm run sample [-- options]

  --outputs FILE    a deployed stack, by the file that "npm run deploy" writes (cdk-outputs.json);
                    without it, the local cloud that "npm start" runs
  --state DIR       the local cloud's, where "npm start -- --state DIR" has another than .glimpse
  --json            a line of JSON for each picture that is drawn, for programs: {"done":12,"total":86},
                    and a line {error} where it went wrong
  --help

The pictures are drawn, not downloaded: landscapes, still lifes and nights in many sizes, turned in
all ways that cameras turn them, one damaged and one of a format that Glimpse does not read. They
are in the galleries "sample" and "sample/orientations". What is there already is left as it is.`;

async function main(): Promise<void> {
  const values = readOptions(process.argv.slice(2), {
    outputs: { type: 'string' },
    state: { type: 'string', default: '.glimpse' },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  });
  if (values.help) {
    const { SAMPLE_COUNT } = await import('./sample/catalogue.ts');
    console.log(helpOf(SAMPLE_COUNT));
    return;
  }
  // Not before it is known where to.
  const { openTarget } = await import('./target.ts');
  const target = await openTarget(values.outputs, values.state);
  const { putSample } = await import('./sample/put-sample.ts');
  await putSample(target, values);
}

try {
  await main();
} catch (error) {
  tellFailure('sample', error, process.argv.slice(2));
}
