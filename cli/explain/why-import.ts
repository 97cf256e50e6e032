import { authorizeFor } from '../authorize.ts';
import type { Target } from '../target.ts';
import { UsageError } from '../usage-error.ts';
import { askApi, fleetSchema, importSchema } from './ask-api.ts';
import { type Explanation, explainImport } from './explain-import.ts';

/** Asks the API of a stack how an import goes, and says why it takes as long. */
export async function whyImport(target: Target, id: string): Promise<Explanation> {
  const { outputs, description } = target;
  const api = outputs.ApiUrl;
  if (api === undefined) {
    throw new UsageError(
      `Expected the output ApiUrl of ${description}, got none: deploy it again with this version.`,
    );
  }
  const authorize = authorizeFor(target, process.env);
  const [told, fleet] = await Promise.all([
    askApi(api, `/imports/${encodeURIComponent(id)}`, importSchema, authorize),
    askApi(api, '/fleet', fleetSchema, authorize),
  ]);
  return explainImport(told, fleet, Date.now());
}
