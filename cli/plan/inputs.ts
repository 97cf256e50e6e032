import { MODES, type Numbers } from '../../shared/fleet/numbers.ts';
import type { PlanInput } from '../../shared/fleet/plan-input.ts';

/** One of the values that the plan follows from. */
export interface Input {
  /** As an option of the command: `requests-per-minute`. */
  readonly option: string;
  readonly unit: string;
  /** Where it is configured. */
  readonly path: string;
  readonly isWhole: boolean;
  /** Undefined where the configuration has none; null for tokens that are not counted. */
  read(input: PlanInput): number | null | undefined;
  /** What the plan takes where the configuration has none. */
  planned?(numbers: Numbers): number;
  /** Undefined where there is nothing that it could belong to. */
  change(input: PlanInput, value: number | null): PlanInput | undefined;
}

type Key<T> = { [K in keyof PlanInput]-?: PlanInput[K] extends T ? K : never }[keyof PlanInput];

const plain = (
  option: string,
  unit: string,
  path: string,
  key: Key<number>,
  isWhole = true,
): Input => ({
  option,
  unit,
  path,
  isWhole,
  read: (input) => input[key],
  change: (input, value) => ({ ...input, [key]: value }),
});

/** What there is of each account: that of the configuration, and those that modes have for themselves. */
const ACCOUNT = [
  ['requests-per-minute', 'requests a minute', 'account', 'requestsPerMinute', true],
  ['tokens-per-minute', 'tokens a minute', 'account', 'tokensPerMinute', true],
  ['service-seconds', 's a call', 'measured', 'serviceSeconds', false],
  ['tokens-per-call', 'tokens a call', 'measured', 'tokensPerCall', false],
] as const;

const shared: Input[] = ACCOUNT.map(([option, unit, part, key, isWhole]) => ({
  option,
  unit,
  path: `summaries.${part}.${key}`,
  isWhole,
  read: ({ account, measured }) => ({ ...account, ...measured })[key],
  change: (input, value) => ({ ...input, [part]: { ...input[part], [key]: value } }),
}));

const own: Input[] = MODES.flatMap((mode) =>
  ACCOUNT.map(([option, unit, part, key, isWhole]) => ({
    option: `${mode}-${option}`,
    unit,
    path: `summaries.${mode}.provider.${part}.${key}`,
    isWhole,
    read: ({ [mode]: { own: account } }) =>
      account && { ...account.account, ...account.measured }[key],
    change(input, value) {
      const { own: account } = input[mode];
      if (account === undefined) return undefined;
      const changed = { ...account, [part]: { ...account[part], [key]: value } };
      return { ...input, [mode]: { ...input[mode], own: changed } };
    },
  })),
);

const ofModes: Input[] = MODES.flatMap((mode) =>
  (
    [
      ['batch-chunks', 'chunks', 'batchChunks', 'batchChunks'],
      ['concurrency', 'processes', 'concurrency', 'processes'],
      ['gate', 'in flight each', 'gate', 'gate'],
    ] as const
  ).map(([option, unit, key, number]) => ({
    option: `${mode}-${option}`,
    unit,
    path: `summaries.${mode}.${key}`,
    isWhole: true,
    read: (input) => input[mode][key],
    planned: (numbers) => numbers[mode][number],
    change: (input, value) => ({ ...input, [mode]: { ...input[mode], [key]: value } }),
  })),
);

export const INPUTS: readonly Input[] = [
  ...shared,
  plain('headroom', 'times', 'summaries.headroom', 'headroom', false),
  plain(
    'interactive-share',
    'of the account',
    'summaries.interactiveShare',
    'interactiveShare',
    false,
  ),
  plain('reserve', "of the provider's limit", 'summaries.reserve', 'reserve', false),
  plain('chunk-rows', 'rows', 'summaries.chunkRows', 'chunkRows'),
  ...ofModes,
  ...own,
  plain('call-timeout-seconds', 's', 'summaries.callTimeoutSeconds', 'callTimeoutSeconds'),
  plain('worker-timeout-seconds', 's', 'summaries.workerTimeoutSeconds', 'workerTimeoutSeconds'),
  plain('account-concurrency', 'executions', 'concurrency.account', 'accountConcurrency'),
];
