import { z } from 'zod';
import { GROUP_ATTRIBUTE } from '../engines/group-attribute.ts';

const attributes = z.record(z.string(), z.unknown()).default({});

/** A message, or an entry of a batch, as it goes to fauxqs. */
export function withGroup(entry: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const { MessageGroupId: group, MessageAttributes: given } = entry;
  if (typeof group !== 'string') return { ...entry };
  const own = { [GROUP_ATTRIBUTE]: { DataType: 'String', StringValue: group } };
  return { ...entry, MessageAttributes: { ...attributes.parse(given), ...own } };
}
