import type { Outcome } from './instance.ts';

export interface Report {
  readonly requestId: string;
  readonly outcome: Outcome;
  readonly durationMs: number;
  readonly memoryMb: number;
  readonly peakBytes: number;
  /** Of the first invocation of a process only. */
  readonly initMs: number | undefined;
}

/** The lines with which Lambda ends an invocation in the log. */
export function reportLines(report: Report): string {
  const { requestId, outcome, durationMs, memoryMb, peakBytes, initMs } = report;
  const parts = [
    `REPORT RequestId: ${requestId}`,
    `Duration: ${durationMs.toFixed(2)} ms`,
    `Billed Duration: ${Math.ceil(durationMs)} ms`,
    `Memory Size: ${memoryMb} MB`,
    `Max Memory Used: ${Math.ceil(peakBytes / 1_048_576)} MB`,
    ...(initMs === undefined ? [] : [`Init Duration: ${initMs.toFixed(2)} ms`]),
  ];
  return `${errorLine(requestId, outcome)}END RequestId: ${requestId}\n${parts.join('\t')}\n`;
}

function errorLine(requestId: string, outcome: Outcome): string {
  if (outcome.kind !== 'error') return '';
  const { errorType, errorMessage, trace } = outcome.error;
  const error = JSON.stringify({ errorType, errorMessage, stack: trace });
  return `${new Date().toISOString()}\t${requestId}\tERROR\tInvoke Error\t${error}\n`;
}
