import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { z } from 'zod';

const resultSchema = z.object({
  violations: z.array(
    z.object({
      id: z.string(),
      help: z.string(),
      nodes: z.array(z.object({ html: z.string(), failureSummary: z.string().optional() })),
    }),
  ),
});

/** Minified, the same rules are read by a page in half the time. */
const AXE = await readFile(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8');

/**
 * Details of what is right, and files fetched for rules that are not asked, would take as long again;
 * a violation is told of by its HTML, not by a selector that is sought for each element.
 */
const OPTIONS = JSON.stringify({
  resultTypes: ['violations'],
  preload: false,
  selectors: false,
});

/** What axe-core finds wrong with the page as it is now, by its rules for WCAG 2.2 AA and good practice. */
export async function violations(page: Page): Promise<string[]> {
  if ((await page.evaluate('typeof axe')) === 'undefined') await load(page);
  const found = resultSchema.parse(await page.evaluate(`axe.run(${OPTIONS})`));
  return found.violations.flatMap(({ id, help, nodes }) =>
    nodes.map(({ html, failureSummary = '' }) => `${id}: ${help}\n${html}\n${failureSummary}`),
  );
}

/** Not by a script tag, as the pages' policies allow none of ours; nor by `evaluate`, which copies it. */
async function load(page: Page): Promise<void> {
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('Runtime.evaluate', { expression: AXE });
  await devtools.detach();
}
