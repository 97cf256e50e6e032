import type { Diagnosis } from '../diagnosis.ts';
import type { Rates } from '../measure.ts';
import { rate } from './amounts.ts';
import { boundOf, FULL, type ModeScene, ROOM, roomOf, type Scene } from './scene.ts';

// Calls take all places there are: in the processes that run, or in all that may.

/** Of what the plan takes a call to take: less is no reason to plan anew. */
const SLOW = 1.25;

export function full(scene: Scene): Diagnosis | undefined {
  const { busy } = scene;
  if (busy.length > 0 && busy.every((mode) => isFull(mode, mode.processes))) {
    return ceiling(scene, busy);
  }
  // The other's places are its own: each mode has its processes.
  const one = busy.find((mode) => isFull(mode, mode.processes));
  if (one !== undefined) return ceiling(scene, [one]);
  if (isNarrow(scene)) return ceiling(scene, busy);
  const few = busy.find((mode) => isFull(mode, mode.rates.processes));
  return few === undefined ? undefined : gate(scene, few);
}

function isFull({ gate, rates }: ModeScene, processes: number): boolean {
  return rates.inFlight > 0 && processes > 0 && rates.inFlight >= FULL * gate * processes;
}

/**
 * Places are taken, partly by rows that wait for their next turn in the account, as those before were
 * lost to gates that were full.
 */
function isNarrow(scene: Scene): boolean {
  const { all, busy } = scene;
  const taken = busy.reduce((sum, { rates }) => sum + rates.inFlight + rates.waiting.allowance, 0);
  return all.inFlight > 0 && taken >= FULL * boundOf(busy) && roomOf(scene) < ROOM;
}

/** More places would help in both; but where calls are slow, the plan has the wrong service time. */
function ceiling(scene: Scene, full: readonly ModeScene[]): Diagnosis {
  const { facts, all, busy } = scene;
  const sum = (of: (rates: Rates) => number) =>
    full.reduce((total, { rates }) => total + of(rates), 0);
  const [inFlight, turns] = [
    sum((rates) => rates.inFlight),
    sum(({ waiting }) => waiting.allowance),
  ];
  const what =
    full.length < busy.length ? `All processes of ${full[0]?.mode} work` : 'All processes';
  const others =
    inFlight < FULL * boundOf(full)
      ? `, ${rate(turns)} rows wait in places for their turn in the account`
      : '';
  const service = all.serviceSeconds ?? 0;
  const words = `${what} are full: ${rate(inFlight)} of ${rate(boundOf(full))} calls are in flight${others}, and ${madeInWords(scene)}. The account has more.`;
  const raise =
    'Raise the headroom of the fleet bound step by step, until completed rows a minute stop improving.';
  if (service < SLOW * facts.serviceSeconds) {
    return { code: 'ceiling', words, help: [...shareFor(scene, full), raise] };
  }
  return {
    code: 'slow',
    words: `Calls take ${rate(service)} s, and the plan takes them to take ${rate(facts.serviceSeconds)} s. ${words}`,
    help: [
      `If that lasts, configure the measured ${rate(service)} s, and deploy: the fleet then has the places for it.`,
      "See the provider's status page, and whether prompts or answers have become longer.",
      'Where the provider itself measures less, give the workers more memory, and so more of a processor.',
      raise,
    ],
  };
}

/** Interactive work alone has no more than its part of the places. */
function shareFor({ facts, busy }: Scene, full: readonly ModeScene[]): string[] {
  const [one, ...others] = busy;
  if (one?.mode !== 'interactive' || others.length > 0 || facts.modes.length === 1) return [];
  return [
    `Raise the share of interactive work, if it should use more of the account alone: it has ${rate(boundOf(full))} of ${rate(boundOf(facts.modes))} places.`,
  ];
}

function gate(scene: Scene, few: ModeScene): Diagnosis {
  const { gate, processes, rates } = few;
  return {
    code: 'gate',
    words: `The processes that run are full: ${rate(rates.inFlight)} of ${rate(gate * rates.processes)} calls are in flight in ${rate(rates.processes)} of ${processes} processes, and ${madeInWords(scene)}.`,
    help:
      scene.depth > 0
        ? [
            'Give AWS a minute to start the others; if they do not come, look for throttles of the worker function and at the concurrency of the AWS account.',
            'Let each take fewer chunks at once, so that the chunks reach more processes.',
          ]
        : [
            'Make chunks smaller or let a process take fewer at once, so that they reach the others.',
          ],
  };
}

function madeInWords({ facts, all }: Scene): string {
  return `only ${rate(all.callsPerSecond)} of ${rate(facts.callsPerSecond)} calls a second are made, each of ${rate(all.serviceSeconds ?? 0)} s`;
}
