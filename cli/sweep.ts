import './compile-cache.ts';
import { INTERRUPTED } from './stop-by-signals.ts';
import { PROVIDER_KEY, readArguments } from './sweep/options.ts';
import { tellFailure } from './tell-failure.ts';

const HELP = `Finds the fleet bound: raises the calls in flight step by step until the work that is completed in
a minute stops improving, draws the curve and names the number.

  npm run sweep [-- options]

  --provider        the provider of cdk/config.ts, with the key in ${PROVIDER_KEY}; without it, the
                    simulator of the local cloud that "npm start" runs. Real calls cost real money
  --mode MODE       interactive or bulk (bulk): whose provider, where they have accounts of their own
  --from N          the first bound, 1 to 5,000 (4)
  --to N            the last bound to try, to 5,000 (512)
  --seconds N       how long each step takes, 5 to 600 (20); measured is what ends after a quarter of it
  --out FILE        where the curve goes, an SVG (.glimpse/sweep.svg)
  --json            for a program: {fleetBound, best, end, failure, accountPerMinute, plannedInFlight,
                    curve, steps}, where fleetBound is null if a larger one may complete more than the
                    best that was tried, and curve is the file; a line {error} where it went wrong
  --state DIR       the local cloud's, where "npm start -- --state DIR" has another than .glimpse
  --help

Each step has half as many calls more in flight; none calls faster than the account of cdk/config.ts
permits. Two steps without an improvement end it, and so do calls that are refused or fail. Run it
while the fleet rests: both would share the account. Ctrl-C stops it, and it tells of what it has;
once more ends it at once.

It ends with 0 when it has a number, with 1 if calls fail, with 2 if it was called wrongly, and with
${INTERRUPTED} if it was stopped.`;

async function main(): Promise<void> {
  const options = readArguments(process.argv.slice(2));
  if (options === undefined) {
    console.log(HELP);
    return;
  }
  // Not before it is known what to measure.
  const { tellSweep } = await import('./sweep/tell-sweep.ts');
  await tellSweep(options);
}

try {
  await main();
} catch (error) {
  tellFailure('sweep', error, process.argv.slice(2));
}
