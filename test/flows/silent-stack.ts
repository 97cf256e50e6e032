import { changedStack } from './changed-stack.ts';

/** A stack whose originals bucket tells nobody of uploads, as one that was there before. */
export function silentStack(root: string, cdkOut: string): Promise<string> {
  return changedStack(root, cdkOut, (text) => {
    const template = JSON.parse(text);
    const resources = Object.values<{ Properties?: Record<string, unknown> }>(template.Resources);
    for (const { Properties: properties } of resources)
      delete properties?.NotificationConfiguration;
    return JSON.stringify(template);
  });
}
