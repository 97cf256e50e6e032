import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type Browser, chromium } from 'playwright-core';
import { z } from 'zod';

// A browser that `npm ci` brought, so that the tests need nothing else: npm has a Chromium for Linux
// on x64. Elsewhere it is the machine's own Chrome.

const run = promisify(execFile);

/**
 * Unpacks Chromium once for all who come, in two seconds; they may come at the same time.
 *
 * @returns its folder, or nothing where npm has none for this machine.
 */
export async function unpackChromium(root: string): Promise<string | undefined> {
  if (process.platform !== 'linux' || process.arch !== 'x64') return undefined;
  const folder = join(root, '.glimpse', `chromium-${await versionOf(root)}`);
  if (existsSync(folder)) return folder;
  await mkdir(join(root, '.glimpse'), { recursive: true });
  const unpacking = await mkdtemp(`${folder}-`);
  try {
    // A process of its own, as the package unpacks to wherever TMPDIR says.
    await run(process.execPath, [import.meta.filename], {
      // It takes this for the Lambda that it is made for, and brings the libraries along.
      env: { ...process.env, TMPDIR: unpacking, AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs24.x' },
    });
    await writeFile(join(unpacking, 'fonts.conf'), fontsConf(folder));
    await rename(unpacking, folder);
  } catch (error) {
    await rm(unpacking, { recursive: true, force: true });
    // Somebody else was faster.
    if (!existsSync(folder)) throw error;
  }
  return folder;
}

async function versionOf(root: string): Promise<string> {
  const file = join(root, 'node_modules/@sparticuz/chromium/package.json');
  return z.object({ version: z.string() }).parse(JSON.parse(await readFile(file, 'utf8'))).version;
}

/** One font, the same on every machine, and so the same layout. */
function fontsConf(folder: string): string {
  return `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig><dir>${folder}/fonts</dir><cachedir>${folder}/fonts-cache</cachedir></fontconfig>
`;
}

/** @param folder what `unpackChromium` answered */
export async function launchBrowser(folder: string | undefined): Promise<Browser> {
  const args = [
    // Nothing leaves this machine, whatever a page or the browser itself would like to fetch.
    '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1',
    // An emulated graphics card takes more of the processor than drawing without one.
    '--disable-gpu',
    // Without a card, a process for it would only pass on what the browser's own can draw.
    '--in-process-gpu',
    // Visitors would have processes of their own, and each origin of a page: to start one takes
    // as much of the processor as most pages do.
    '--disable-site-isolation-trials',
    '--renderer-process-limit=1',
    // No page lives long enough to earn back what it costs to optimise its scripts.
    '--js-flags=--no-opt,--no-maglev',
  ];
  if (folder !== undefined) {
    return await chromium.launch({
      executablePath: join(folder, 'chromium'),
      env: await environment(folder),
      // Containers and root have none to offer; what is shown is our own.
      chromiumSandbox: false,
      args,
    });
  }
  try {
    return await chromium.launch({ channel: 'chrome', args });
  } catch (cause) {
    throw new Error(
      'The browser tests need Google Chrome here: install it, or run them on Linux on x64, for which npm brings a Chromium.',
      { cause },
    );
  }
}

async function environment(folder: string): Promise<Record<string, string>> {
  const inherited = Object.entries(process.env).filter((entry) => entry[1] !== undefined);
  return {
    ...Object.fromEntries(inherited.map(([name, value]) => [name, value ?? ''])),
    FONTCONFIG_FILE: join(folder, 'fonts.conf'),
    // The machine's own libraries where it has them: those of the package need a newer libc.
    ...((await lacksLibraries(folder)) ? { LD_LIBRARY_PATH: join(folder, 'al2023/lib') } : {}),
  };
}

async function lacksLibraries(folder: string): Promise<boolean> {
  try {
    const { stdout } = await run('ldd', [join(folder, 'chromium')]);
    return stdout.includes('not found');
  } catch {
    return true;
  }
}

if (import.meta.main) {
  const { default: packed } = await import('@sparticuz/chromium');
  await packed.executablePath();
}
