import { type Measured, measure, StoppedError, type Sweep } from './measure.ts';
import { type End, nextStep } from './steps.ts';

export interface SweepOptions {
  /** The first bound, and the last that is tried. */
  readonly first: number;
  readonly most: number;
  readonly stepMs: number;
  readonly onBegin: (bound: number) => void;
  readonly onStep: (step: Measured) => void;
}

export interface Swept {
  readonly steps: readonly Measured[];
  /** `stopped`: by the signal. The step that was under way then is none. */
  readonly end: End | 'stopped';
  /** What the provider said, where it ended for that. */
  readonly failure: string | undefined;
}

/**
 * Raises the calls in flight until it is known what more of them bring.
 * @throws StoppedError if the provider cannot be called from the start.
 */
export async function runSweep(sweep: Sweep, options: SweepOptions): Promise<Swept> {
  const { first, most, stepMs, onBegin, onStep } = options;
  const steps: Measured[] = [];
  for (;;) {
    const next = nextStep(steps, first, most);
    if ('end' in next) {
      const failure = next.end === 'failed' ? steps.at(-1)?.failure : undefined;
      return { steps, end: next.end, failure };
    }
    onBegin(next.bound);
    let step: Measured;
    try {
      step = await measure(sweep, next.bound, stepMs);
    } catch (error) {
      // What was measured and paid for until then is still true.
      if (!(error instanceof StoppedError) || steps.length === 0) throw error;
      return { steps, end: 'failed', failure: error.message };
    }
    if (sweep.signal.aborted) return { steps, end: 'stopped', failure: undefined };
    steps.push(step);
    onStep(step);
  }
}
