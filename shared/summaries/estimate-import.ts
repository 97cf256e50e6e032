import { costUsd, estimateTokens, type Prices } from './estimate.ts';
import { buildPrompt, type PromptLimits } from './prompt.ts';

/** What is known of a column of a file. */
export interface ColumnFacts {
  readonly name: string;
  readonly filled: number;
  readonly meanCharacters: number;
  readonly samples: readonly string[];
}

export interface Estimate {
  /** One a row. */
  calls: number;
  inputTokens: number;
  /** As many as the answers may have at most. */
  outputTokens: number;
  costUsd: number;
}

/** What summaries of `rows` rows cost at most: inputs as they are on average, outputs at their bound. */
export function estimateImport(
  rows: number,
  columns: readonly ColumnFacts[],
  instructions: string,
  limits: PromptLimits,
  prices: Prices,
): Estimate {
  const blank = buildPrompt(instructions, [], limits);
  const around = estimateTokens(blank.system) + estimateTokens(blank.input);
  const characters = columns.reduce((all, column) => all + charactersOf(column, rows), 0);
  const tokens = columns.reduce(
    (all, column) => all + charactersOf(column, rows) * tokensACharacter(column.samples),
    0,
  );
  // What is longer than the input's bound is cut.
  const cut = characters > limits.inputCharacters ? limits.inputCharacters / characters : 1;
  const usage = {
    inputTokens: Math.ceil(rows * (around + tokens * cut)),
    outputTokens: rows * limits.outputTokens,
  };
  return { calls: rows, ...usage, costUsd: costUsd(usage, prices) };
}

/** What its name and value are as JSON, with what stands around them. */
const FRAME = 24;

function charactersOf({ name, filled, meanCharacters }: ColumnFacts, rows: number): number {
  return rows === 0 ? 0 : (filled / rows) * (FRAME + name.length + meanCharacters);
}

function tokensACharacter(samples: readonly string[]): number {
  const text = samples.join('');
  return text === '' ? 1 / 4 : estimateTokens(text) / text.length;
}
