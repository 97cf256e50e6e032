import { z } from 'zod';
import type { Sample } from './metric-store.ts';

// CloudWatch's embedded metric format: lines of a log that say which of their members are metrics.
// https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html

const lineSchema = z.looseObject({
  _aws: z.looseObject({
    Timestamp: z.number(),
    CloudWatchMetrics: z.array(
      z.object({
        Namespace: z.string(),
        Dimensions: z.array(z.array(z.string())),
        Metrics: z.array(z.object({ Name: z.string(), Unit: z.string().optional() })),
      }),
    ),
  }),
});

const valuesSchema = z.union([z.number().transform((value) => [value]), z.array(z.number())]);

export interface UnitSample extends Sample {
  readonly unit: string | undefined;
}

/** The metrics of a line; none where it is another line, or not in the format. */
export function readEmbedded(line: string): UnitSample[] {
  if (!line.includes('"_aws"')) return [];
  const parsed = lineSchema.safeParse(parseJson(line));
  if (!parsed.success) return [];
  const members = new Map(Object.entries(parsed.data));
  const { Timestamp: at, CloudWatchMetrics: directives } = parsed.data._aws;
  return directives.flatMap(({ Namespace: namespace, Dimensions, Metrics }) =>
    Dimensions.flatMap((names) => {
      const dimensions = Object.fromEntries(names.map((name) => [name, String(members.get(name))]));
      return Metrics.flatMap(({ Name: name, Unit: unit }) => {
        const values = valuesSchema.safeParse(members.get(name));
        return values.success
          ? [{ namespace, name, dimensions, at, unit, values: values.data }]
          : [];
      });
    }),
  );
}

function parseJson(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

/** Text comes in pieces, a line perhaps in two. Answers whom to tell of the pieces. */
export function embeddedReader(
  found: (samples: readonly Sample[]) => void,
): (text: string) => void {
  let rest = '';
  return (text) => {
    const lines = (rest + text).split('\n');
    // What goes on without end is no line of metrics.
    rest = (lines.pop() ?? '').slice(-LONGEST_LINE);
    for (const line of lines) found(readEmbedded(line));
  };
}

/** CloudWatch's own limit of an event, bytes. */
const LONGEST_LINE = 1_048_576;
