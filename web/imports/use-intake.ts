import { useCallback, useRef, useState } from 'preact/hooks';
import { ApiError } from '../shell/api-error.ts';
import type { Mode } from './import-view.ts';
import { importName, refusalOf } from './picked-csv.ts';
import type { Transfers } from './transfers.ts';

export interface NotTaken {
  readonly name: string;
  readonly reason: string;
}

/** How files come in, and which did not. */
export interface Intake {
  readonly mode: Mode;
  setMode(mode: Mode): void;
  take(files: readonly File[]): Promise<void>;
  /** The file that is being announced. */
  readonly starting: string | undefined;
  readonly notTaken: readonly NotTaken[];
}

/** @param onCreated called with the ids of the new imports, if there are some */
export function useIntake(
  transfers: Transfers,
  maxBytes: number,
  onCreated: (importIds: readonly string[]) => void,
): Intake {
  const [mode, setMode] = useState<Mode>('interactive');
  const [starting, setStarting] = useState<string | undefined>(undefined);
  const [notTaken, setNotTaken] = useState<readonly NotTaken[]>([]);
  const told = useRef(onCreated);
  told.current = onCreated;

  const take = useCallback(
    async (files: readonly File[]) => {
      setNotTaken([]);
      const created: string[] = [];
      const refused: NotTaken[] = [];
      for (const file of files) {
        const reason = refusalOf(file, maxBytes);
        if (reason !== undefined) {
          refused.push({ name: file.name, reason });
          continue;
        }
        setStarting(file.name);
        try {
          created.push(await transfers.begin(file, { name: importName(file.name), mode }));
        } catch (error) {
          if (!(error instanceof ApiError)) throw error;
          refused.push({ name: file.name, reason: reasonOf(error) });
        }
      }
      setStarting(undefined);
      setNotTaken(refused);
      if (created.length > 0) told.current(refused.length === 0 ? created : []);
    },
    [transfers, maxBytes, mode],
  );

  return { mode, setMode, take, starting, notTaken };
}

export function reasonOf({ status, message }: ApiError): string {
  if (status === 0) return 'Glimpse cannot be reached. Check the network, then try again.';
  if (status === 429 || status >= 500) return 'Glimpse could not answer just now. Try again.';
  // What it is about is what was pressed.
  return message.replace(/^\w+: (.)/, (_, first: string) => first.toUpperCase());
}
