import { z } from 'zod';

/** The model's name, wherever one is told. */
export const MODEL = 'glimpse-extractive-1';

const fieldsSchema = z.object({
  fields: z.array(z.object({ name: z.string(), value: z.string() })),
});
type Field = z.infer<typeof fieldsSchema>['fields'][number];

const LONGEST_NAME = 120;
const LONGEST_SENTENCE = 320;
const NAME = /^(.*[\s_-])?(name|title|product|subject|heading)$/i;

/**
 * A summary of the input's own words, and nothing that is not in it: what the row is called and the
 * first sentence of its longest text. An input that is not a row is treated as text.
 */
export function summarise(input: string): string {
  const fields = readFields(input);
  if (fields === undefined) return firstSentence(input);
  const called = fields.find(({ name, value }) => NAME.test(name) && value.length <= LONGEST_NAME);
  const rest = fields.filter((field) => field !== called);
  const longest = rest.reduce<Field | undefined>(
    (best, field) => (best === undefined || field.value.length > best.value.length ? field : best),
    undefined,
  );
  return [called?.value, longest && firstSentence(longest.value)]
    .flatMap((part) => part?.trim() || [])
    .join(': ');
}

function readFields(input: string): readonly Field[] | undefined {
  const start = input.indexOf('{');
  const end = input.lastIndexOf('}');
  if (start < 0 || end < start) return undefined;
  try {
    const parsed = fieldsSchema.safeParse(JSON.parse(input.slice(start, end + 1)));
    return parsed.data?.fields;
  } catch {
    return undefined;
  }
}

/** Up to a full stop that something follows, in whatever script; or as many words as fit. */
function firstSentence(text: string): string {
  const start = text.slice(0, 2 * LONGEST_SENTENCE).trimStart();
  const end = /[.!?](?=\s)|[。！？]/.exec(start);
  const raw = end === null ? start : start.slice(0, end.index + 1);
  const sentence = raw.replaceAll(/\s+/g, ' ').trim();
  if (sentence.length <= LONGEST_SENTENCE) return sentence;
  const space = sentence.lastIndexOf(' ', LONGEST_SENTENCE);
  return sentence.slice(0, space > 0 ? space : LONGEST_SENTENCE).toWellFormed();
}
