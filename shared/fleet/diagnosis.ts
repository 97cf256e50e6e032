// The possible answers to what limits the fleet.

/** From what stops all work to what needs nobody. */
export const DIAGNOSES = [
  /** No call succeeds until somebody acts. */
  'stopped',
  /** The provider refuses calls for their rate, though the fleet keeps to the account's. */
  'refused',
  /** Many calls bring no answer, for another reason than their rate. */
  'failing',
  /** There is work, and neither the account nor the bound is used: something here is in the way. */
  'inside',
  /** Bulk work gives way to calls that are not Glimpse's. */
  'yielding',
  /** The processes that run are full, and others might run. */
  'gate',
  /** All processes are full, because calls take longer than the plan takes them to. */
  'slow',
  /** All processes are full, and the account has more: the fleet bound is too low. */
  'ceiling',
  /** The account is used: as good as it gets with this one. */
  'quota',
  /** Work has begun, and nothing is measured yet that would say more. */
  'starting',
  /** Next to nothing waits: work is done as fast as it comes. */
  'producer',
  'idle',
] as const;

export type DiagnosisCode = (typeof DIAGNOSES)[number];

export interface Diagnosis {
  readonly code: DiagnosisCode;
  /** One or two sentences for an operator, with what was measured. */
  readonly words: string;
  /** What would help, the most likely first; nothing where nobody needs to do anything. */
  readonly help: readonly string[];
}

/** Of the lines' diagnoses, the one that somebody should read first. */
export function mostPressing(diagnoses: readonly Diagnosis[]): Diagnosis | undefined {
  const rank = ({ code }: Diagnosis) => DIAGNOSES.indexOf(code);
  return diagnoses.toSorted((one, other) => rank(one) - rank(other))[0];
}
