import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { builtFiles } from '../../web/files.ts';
import { hashInputs } from '../inputs.ts';

/** Everything that goes into the pages. */
const INPUTS = ['web', 'package-lock.json', 'tsconfig.json'];

/**
 * Builds the pages, unless the last build had the same inputs. In a process of its own: what is
 * bundled with takes longer to load than a start may take.
 */
export async function buildPages(root: string): Promise<void> {
  const inputsFile = join(root, 'dist', '.inputs');
  const inputs = hashInputs(root, INPUTS);
  const built = existsSync(inputsFile) && readFileSync(inputsFile, 'utf8') === inputs;
  if (built && builtFiles(root).length > 0) return;
  rmSync(inputsFile, { force: true });
  const child = spawn(process.execPath, ['web/build.ts'], {
    cwd: root,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  // An interrupted start must not leave it running.
  const kill = () => child.kill();
  process.once('exit', kill);
  const [complaint, [code]] = await Promise.all([text(child.stderr), once(child, 'exit')]);
  process.off('exit', kill);
  if (code !== 0) throw new Error(`The pages could not be built:\n${complaint.trim()}`);
  // Written last: an interrupted build is not taken for a finished one.
  writeFileSync(inputsFile, inputs);
}
