import { changedStack } from './changed-stack.ts';

export interface Template {
  // biome-ignore lint/suspicious/noExplicitAny: whatever CDK wrote.
  Resources: Record<string, any>;
}

/**
 * A stack whose originals bucket tells nobody of uploads, as one that was there before.
 *
 * @param change what else is different
 */
export function silentStack(
  root: string,
  cdkOut: string,
  change: (template: Template) => void = () => {},
): Promise<string> {
  return changedStack(root, cdkOut, (text) => {
    const template: Template = JSON.parse(text);
    for (const { Properties: properties } of Object.values(template.Resources))
      delete properties?.NotificationConfiguration;
    change(template);
    return JSON.stringify(template);
  });
}
