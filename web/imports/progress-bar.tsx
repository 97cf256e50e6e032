import type { Counts } from './import-view.ts';
import { count, percent } from './in-words.ts';

interface ProgressBarProps {
  rows: Counts;
  label: string;
}

/** Rows that are done and rows that failed, of all. */
export function ProgressBar({ rows: { total, done, failed }, label }: ProgressBarProps) {
  const part = (rows: number) => `${total === 0 ? 0 : (rows / total) * 100}%`;
  return (
    <div
      class="progress"
      role="progressbar"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={total}
      aria-valuenow={done + failed}
      aria-valuetext={`${count(done + failed)} of ${count(total)} rows, ${percent(done + failed, total)}${failed > 0 ? `, ${count(failed)} failed` : ''}`}
    >
      <span class="done" style={{ width: part(done) }} />
      <span class="failed" style={{ width: part(failed) }} />
    </div>
  );
}
