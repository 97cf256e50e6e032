import { ConflictError } from '../../shared/errors.ts';
import type { ImportState } from '../../shared/imports/import-item.ts';

// What cannot be done in a state, and what can: one sentence for each.

const NONE_FAILED = 'no row of it has failed';
const ANEW = 'it stays so, and a new import begins anew';

type Verb = 'pause' | 'resume' | 'cancel' | 'retry' | 'estimate' | 'export';

const WHY: Readonly<Record<Verb, Partial<Readonly<Record<ImportState, string>>>>> = {
  pause: {
    completed: 'nothing is left to pause',
    'completed-with-failures': 'nothing is left to pause',
    failed: 'nothing is left to pause',
    cancelled: 'nothing is left to pause',
  },
  resume: {
    running: 'its settings can be changed while it is paused',
    reading: 'its settings can be changed once its file has been read',
    completed: 'nothing is left to resume',
    'completed-with-failures': 'retry takes up the rows that failed',
    failed: ANEW,
    cancelled: ANEW,
  },
  cancel: {
    completed: 'nothing is left to cancel',
    'completed-with-failures': 'nothing is left to cancel',
    failed: 'nothing is left to cancel',
  },
  retry: {
    'awaiting-upload': NONE_FAILED,
    reading: NONE_FAILED,
    running: NONE_FAILED,
    paused: NONE_FAILED,
    completed: NONE_FAILED,
    'completed-with-failures': NONE_FAILED,
    failed: ANEW,
    cancelled: ANEW,
  },
  estimate: {
    'awaiting-upload': 'what it costs is known once its file has been read',
    reading: 'what it costs is known once its file has been read',
    failed: 'its file was refused and costs nothing',
    cancelled: 'its file was never read',
  },
  export: {
    'awaiting-upload': 'there are rows once its file has been read',
    reading: 'there are rows once its file has been read',
    failed: 'its file was refused and has no rows',
    cancelled: 'its file was never read',
  },
};

/** `cancel: the import is completed, nothing is left to cancel` */
export function notPossible(verb: Verb, state: ImportState): ConflictError {
  const why = WHY[verb][state] ?? 'it was changed by somebody else: ask again';
  return new ConflictError(`${verb}: the import is ${state}, ${why}`);
}
