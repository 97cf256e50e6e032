import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { UsageError } from '../usage-error.ts';

/**
 * @param app the folder that is to be deployed as it is, where there is one
 * @param outputs the file for the stack's outputs
 * @throws UsageError where there is nothing to deploy, or no place for the outputs: before anything is done
 */
export function requirePlaces(app: string | undefined, outputs: string): void {
  if (app !== undefined && !existsSync(join(app, 'Glimpse.template.json'))) {
    throw new UsageError(
      `--app: expected a folder that "npm run synth" has written, got ${app}, without a Glimpse.template.json.`,
    );
  }
  if (statSync(outputs, { throwIfNoEntry: false })?.isDirectory()) {
    throw new UsageError(`--outputs: expected a file, got the folder ${outputs}.`);
  }
}
