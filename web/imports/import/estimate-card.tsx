import { atMost, count, tokens } from '../in-words.ts';
import { reasonOf } from '../use-intake.ts';
import type { Estimated } from './use-estimate.ts';

/** What an import comes to at most. */
export function EstimateCard({ estimated }: { estimated: Estimated }) {
  const { estimate, pending, error, again } = estimated;
  return (
    <div class="estimate" aria-busy={pending}>
      <p class="sum">
        <span class="amount">{estimate === undefined ? '…' : atMost(estimate.costUsd)}</span>
        <span>{pending ? 'estimating…' : 'at most'}</span>
      </p>
      {error !== undefined && (
        <p role="alert">
          <span class="error">{reasonOf(error)}</span>{' '}
          <button type="button" class="link" onClick={again}>
            Estimate again
          </button>
        </p>
      )}
      <dl>
        <div>
          <dt>Calls</dt>
          <dd>{estimate === undefined ? '…' : count(estimate.calls)}</dd>
        </div>
        <div>
          <dt>Tokens in</dt>
          <dd title={estimate && count(estimate.inputTokens)}>
            {estimate === undefined ? '…' : tokens(estimate.inputTokens)}
          </dd>
        </div>
        <div>
          <dt>Tokens out, up to</dt>
          <dd title={estimate && count(estimate.outputTokens)}>
            {estimate === undefined ? '…' : tokens(estimate.outputTokens)}
          </dd>
        </div>
      </dl>
    </div>
  );
}
