import { spawnSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { config } from '../../../cdk/config.ts';
import { parseConfig } from '../../../cdk/config-schema.ts';
import { planInputOf } from '../../../cdk/plan-input.ts';
import { INPUTS } from '../../../cli/plan/inputs.ts';
import { planInWords } from '../../../cli/plan/text.ts';
import { whatIf } from '../../../cli/plan/what-if.ts';
import { withOptions } from '../../../cli/plan/with-options.ts';
import { planFleet } from '../../../shared/fleet/plan.ts';
import { planInputSchema } from '../../../shared/fleet/plan-input.ts';

const configured = planInputOf(parseConfig(config));
const parted = planInputOf(
  parseConfig({
    ...config,
    summaries: {
      ...config.summaries,
      bulk: {
        batchChunks: 4,
        provider: {
          keyParameter: '/glimpse/bulk-key',
          account: { requestsPerMinute: 1000, tokensPerMinute: null },
        },
      },
    },
  }),
);

describe('npm run plan', () => {
  const run = (...options: string[]) => {
    const { status, stdout, stderr } = spawnSync(process.execPath, ['cli/plan.ts', ...options], {
      encoding: 'utf8',
    });
    return { status, stdout, stderr };
  };

  test('prints the plan of the configuration, and ends with 0', () => {
    const { status, stdout, stderr } = run();
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).toMatch(/requests-per-minute +5,000 +requests a minute +summaries\.account/);
    expect(stdout).toMatch(/fleet bound +134 +in flight +83\.33 calls\/s × 0\.8 s/);
    expect(stdout).toMatch(/ok +shared: calls in flight stay below the fleet bound/);
    expect(stdout).toMatch(/service-seconds 1\.6 .*bound 134 → 267.*decides: requests/);
  });

  test('plans with other numbers for a program, and ends with 1 if a relation is broken', () => {
    const { status, stdout } = run(
      '--json',
      '--service-seconds',
      '8',
      '--requests-per-minute',
      '20000',
    );
    expect(status).toBe(1);
    const {
      input,
      plan,
      whatIf: alternatives,
    } = z
      .object({
        input: planInputSchema,
        plan: z.looseObject({ checks: z.array(z.looseObject({ state: z.string() })) }),
        whatIf: z.array(z.looseObject({ option: z.string() })),
      })
      .parse(JSON.parse(stdout));
    expect(input).toMatchObject({
      account: { requestsPerMinute: 20_000 },
      measured: { serviceSeconds: 8 },
    });
    expect(plan).toEqual(JSON.parse(JSON.stringify(planFleet(input))));
    expect(plan.checks.filter(({ state }) => state === 'error').length).toBeGreaterThan(0);
    expect(alternatives.length).toBeGreaterThan(10);
  });

  test('ends with 2 and one sentence if it is called wrongly', () => {
    const cases: [string[], RegExp][] = [
      [
        ['--requests-per-minute', '-5'],
        /^plan: --requests-per-minute: expected a whole number from 1 up, got "-5"\.\n$/,
      ],
      [['--headroom', '0.5'], /^plan: --headroom: expected a number from 1 up, got "0\.5"\.\n$/],
    ];
    for (const [options, sentence] of cases) {
      const { status, stdout, stderr } = run(...options);
      expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
      expect(stderr).toMatch(sentence);
    }
  });

  test('tells a program of it in JSON', () => {
    const { status, stdout, stderr } = run('--json', '--chunk-rows', 'many');
    const error = '--chunk-rows: expected a whole number, got "many".';
    expect({ status, stdout: JSON.parse(stdout) }).toEqual({ status: 2, stdout: { error } });
    expect(stderr).toBe(`plan: ${error}\n`);
  });

  test('says what it takes', () => {
    const { status, stdout } = run('--help');
    expect(status).toBe(0);
    for (const { option } of INPUTS) expect(stdout).toContain(`--${option} N`);
  });
});

describe('an option', () => {
  test.each(INPUTS.map((input) => [input.option, input] as const))(
    '--%s changes its input and no other',
    (option, { read, change, isWhole }) => {
      const amount = option === 'interactive-share' || option === 'reserve' ? 0.25 : 1.25;
      const value = isWhole ? (option.endsWith('chunks') ? 7 : 29) : amount;
      if (change(parted, value) === undefined) {
        expect(() => withOptions(parted, { [option]: String(value) })).toThrow(
          `--${option}: expected a configuration in which this mode has an account for itself`,
        );
        return;
      }
      const after = withOptions(parted, { [option]: String(value) });
      expect(read(after)).toBe(value);
      const others = (input: typeof after) =>
        INPUTS.filter((each) => each.option !== option).map((each) => each.read(input));
      expect(others(after)).toEqual(others(parted));
    },
  );

  const HUGE = '9'.repeat(30);

  test.each([
    ['chunk-rows', HUGE, 'a whole number up to 1000'],
    ['chunk-rows', `-${HUGE}`, 'a whole number from 1 up'],
    ['chunk-rows', '1.5', 'a whole number'],
    ['requests-per-minute', HUGE, 'a whole number up to 10000000'],
    ['bulk-gate', HUGE, 'a whole number up to 1000'],
    ['bulk-concurrency', HUGE, 'a whole number up to 1000'],
    ['account-concurrency', HUGE, 'a whole number up to 1000000'],
    ['headroom', HUGE, 'a number up to 10'],
  ])('--%s %s is told the bound of the configuration, %s', (option, text, expected) => {
    expect(() => withOptions(configured, { [option]: text })).toThrow(
      `--${option}: expected ${expected}, got "${text}".`,
    );
  });

  test('none is for tokens that an account does not count, and for nothing else', () => {
    expect(withOptions(configured, { 'tokens-per-minute': 'none' }).account.tokensPerMinute).toBe(
      null,
    );
    expect(() => withOptions(configured, { headroom: 'none' })).toThrow(
      '--headroom: expected a number, got "none".',
    );
    expect(() => withOptions(configured, { headroom: '' })).toThrow(
      '--headroom: expected a number, got "".',
    );
    expect(() => withOptions(configured, { 'chunk-rows': '1.5' })).toThrow(
      '--chunk-rows: expected a whole number, got "1.5".',
    );
  });

  test.each([
    ['chunk-rows', '0x10', 'a whole number'],
    ['chunk-rows', '1_000', 'a whole number'],
    ['chunk-rows', '1e2', 'a whole number'],
    ['chunk-rows', '50.', 'a whole number'],
    ['chunk-rows', '50.0', 'a whole number'],
    ['chunk-rows', ' 50', 'a whole number'],
    ['chunk-rows', '٥٠', 'a whole number'],
    ['headroom', '2e0', 'a number'],
    ['headroom', '2 ', 'a number'],
    ['chunk-rows', '1001', 'a whole number up to 1000'],
    ['headroom', 'Infinity', 'a number'],
    ['headroom', '11', 'a number up to 10'],
    ['interactive-share', '1', 'a number up to 0.9'],
  ])('--%s %s is refused as people would say it', (option, text, expected) => {
    expect(() => withOptions(configured, { [option]: text })).toThrow(
      `--${option}: expected ${expected}, got "${text}".`,
    );
  });
});

describe('what if', () => {
  const of = (option: string, to: number) =>
    whatIf(configured).find((each) => each.option === option && each.to === to);

  test('tells what half and twice of each input change, and what decides then', () => {
    expect(of('requests-per-minute', 10_000)).toMatchObject({
      from: 5000,
      decides: 'tokens',
      changes: expect.arrayContaining([{ name: 'bound', from: '134', to: '153' }]),
    });
    expect(of('headroom', 4)).toMatchObject({
      decides: 'requests',
      changes: expect.arrayContaining([{ name: 'bulk', from: '9 × 10', to: '18 × 10' }]),
    });
    expect(of('reserve', 0.2)?.changes).toEqual([]);
    const fixed = { ...configured, interactive: { batchChunks: 1, concurrency: 2, gate: 5 } };
    const small = { ...fixed, bulk: { batchChunks: 4, concurrency: 6, gate: 10 } };
    const twice = whatIf(small).find(
      ({ option, to }) => option === 'service-seconds' && to === 1.6,
    );
    expect(twice).toMatchObject({ decides: 'the ceiling' });
    expect(twice?.findings).toContainEqual({
      state: 'note',
      name: 'shared: the fleet can use all of the account',
    });
  });

  test('takes the number of the plan where none is configured', () => {
    expect(of('bulk-gate', 20)).toMatchObject({
      from: 10,
      changes: expect.arrayContaining([{ name: 'bulk', from: '9 × 10', to: '4 × 20' }]),
    });
    expect(of('bulk-concurrency', 18)?.from).toBe(9);
  });

  test('leaves out values that an input cannot have', () => {
    expect(of('headroom', 8)).toBeUndefined();
    expect(of('interactive-batch-chunks', 1)).toBeUndefined();
    expect(of('chunk-rows', 100)).toBeDefined();
  });

  test('goes on with both accounts where there are two', () => {
    const options = new Set(whatIf(parted).map(({ option }) => option));
    expect(options).toContain('bulk-requests-per-minute');
    expect(options).not.toContain('bulk-tokens-per-minute');
    const text = planInWords(parted, parted, planFleet(parted), whatIf(parted));
    expect(text).toContain('now decides: requests (interactive), requests (bulk)');
    expect(text).toMatch(/bulk-requests-per-minute 2,000 .*bulk bound 27 → 54/);
    expect(text).not.toMatch(/undefined|NaN/);
  });
});

test('what an option changed is told beside what is configured', () => {
  const input = withOptions(configured, { headroom: '3', 'bulk-gate': '14' });
  const text = planInWords(configured, input, planFleet(input), []);
  expect(text).toMatch(/headroom +3 +times +instead of 2 of summaries\.headroom/);
  expect(text).toMatch(
    /bulk-gate +14 +in flight each +instead of the plan of summaries\.bulk\.gate/,
  );
});
