import axe from 'axe-core';
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

/** What axe-core finds wrong with the page as it is now, by its rules for WCAG 2.2 AA and good practice. */
export async function violations(page: Page): Promise<string[]> {
  // Not by a script tag: the pages' policies allow none of ours.
  await page.evaluate(axe.source);
  const found = resultSchema.parse(await page.evaluate('axe.run()'));
  return found.violations.flatMap(({ id, help, nodes }) =>
    nodes.map(({ html, failureSummary = '' }) => `${id}: ${help}\n${html}\n${failureSummary}`),
  );
}
