import type { IncomingMessage } from 'node:http';
import { z } from 'zod';
import { accessDenied, S3Error } from './s3-error.ts';
import { parseCredential, type Verifier } from './sigv4.ts';

// A browser's upload: a multipart form whose policy, signed, says what may be uploaded.
// https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-HTTPPOSTConstructPolicy.html

export interface UploadForm {
  /** By lower-case name: S3 does not tell `Policy` from `policy`. */
  readonly fields: ReadonlyMap<string, string>;
  readonly file: Buffer;
}

const LARGEST = 512 * 1024 * 1024;

/**
 * A form that announces more than is taken is refused before it is sent, where its client listens.
 *
 * @throws S3Error as S3 itself would answer
 */
export async function readUploadForm(message: IncomingMessage): Promise<UploadForm> {
  const announced = Number(message.headers['content-length'] ?? 0);
  if (announced > LARGEST) throw tooLarge(announced);
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of message) {
    size += chunk.length;
    if (size <= LARGEST) chunks.push(chunk);
  }
  if (size > LARGEST) throw tooLarge(size);
  const body = new Response(Buffer.concat(chunks), {
    headers: { 'content-type': message.headers['content-type'] ?? '' },
  });
  const form = await body.formData().catch(() => {
    const text = 'The body of your POST request is not well-formed multipart/form-data.';
    throw new S3Error(400, 'MalformedPOSTRequest', text);
  });
  const fields = new Map<string, string>();
  for (const [name, value] of form) {
    if (name === 'file') {
      // Fields after the file are ignored.
      return finished(fields, value);
    }
    if (typeof value === 'string') fields.set(name.toLowerCase(), value);
  }
  throw new S3Error(400, 'InvalidArgument', 'POST requires exactly one file upload per request.', {
    ArgumentName: 'file',
    ArgumentValue: '0',
  });
}

function tooLarge(size: number): S3Error {
  const message =
    'Your proposed upload exceeds the maximum allowed size: the local cloud takes forms up to 512 MB';
  return new S3Error(400, 'EntityTooLarge', message, sizes(size, 'MaxSizeAllowed', LARGEST));
}

async function finished(fields: Map<string, string>, file: string | File): Promise<UploadForm> {
  const filename = typeof file === 'string' ? '' : file.name.replace(/^.*[/\\]/, '');
  for (const [name, value] of fields) {
    // biome-ignore lint/suspicious/noTemplateCurlyInString: S3's own placeholder.
    fields.set(name, value.replaceAll('${filename}', filename));
  }
  const bytes =
    typeof file === 'string' ? Buffer.from(file) : Buffer.from(await file.arrayBuffer());
  return { fields, file: bytes };
}

const conditionSchema = z.union([
  z.tuple([z.string().toLowerCase(), z.string(), z.string()]),
  z.tuple([z.string().toLowerCase(), z.coerce.number(), z.coerce.number()]),
  z
    .record(z.string(), z.string())
    .refine((condition) => Object.keys(condition).length === 1)
    .transform((condition): [string, string, string] => {
      const [[name, value] = ['', '']] = Object.entries(condition);
      return ['eq', `$${name}`, value];
    }),
]);
type Condition = z.infer<typeof conditionSchema>;

const policySchema = z.object({
  expiration: z.string(),
  conditions: z.array(conditionSchema),
});

/** Fields that no condition need mention. */
const UNCHECKED = /^(x-amz-signature|policy|file|awsaccesskeyid|x-ignore-.*)$/;

/** @throws S3Error, as S3 refuses a form that its policy or signature does not cover. */
export function assertPermitted(
  form: UploadForm,
  bucket: string,
  verifier: Verifier,
  now: Date,
): void {
  const { fields, file } = form;
  const encoded = fields.get('policy');
  if (encoded === undefined) throw accessDenied();
  verifier.verifyText(
    {
      ...parseCredential(fields.get('x-amz-credential') ?? ''),
      signature: fields.get('x-amz-signature') ?? '',
      sessionToken: fields.get('x-amz-security-token'),
    },
    encoded,
  );
  const policy = parsePolicy(encoded);
  if (!(new Date(policy.expiration) > now)) {
    throw accessDenied('Invalid according to Policy: Policy expired.');
  }
  const values = new Map([...fields, ['bucket', bucket]]);
  for (const condition of policy.conditions) assertCondition(condition, values, file.length);
  const mentioned = policy.conditions.map(([, field]) => String(field).slice(1).toLowerCase());
  const extra = [...fields.keys()].find(
    (name) => !UNCHECKED.test(name) && !mentioned.includes(name) && name !== 'bucket',
  );
  if (extra !== undefined) {
    throw accessDenied(`Invalid according to Policy: Extra input fields: ${extra}`);
  }
}

function parsePolicy(encoded: string): z.infer<typeof policySchema> {
  try {
    // S3's policies are almost JSON: a dollar sign may be escaped by a backslash.
    const text = Buffer.from(encoded, 'base64').toString().replaceAll('\\$', '$');
    return policySchema.parse(JSON.parse(text));
  } catch {
    const message = 'Invalid Policy: Invalid JSON.';
    throw new S3Error(400, 'InvalidPolicyDocument', message);
  }
}

function assertCondition(
  condition: Condition,
  values: ReadonlyMap<string, string>,
  size: number,
): void {
  const [operator, first, second] = condition;
  if (operator === 'content-length-range') {
    if (size < Number(first)) {
      const message = 'Your proposed upload is smaller than the minimum allowed size';
      throw new S3Error(400, 'EntityTooSmall', message, sizes(size, 'MinSizeAllowed', first));
    }
    if (size > Number(second)) {
      const message = 'Your proposed upload exceeds the maximum allowed size';
      throw new S3Error(400, 'EntityTooLarge', message, sizes(size, 'MaxSizeAllowed', second));
    }
    return;
  }
  const value = values.get(String(first).slice(1).toLowerCase());
  const expected = String(second);
  const holds =
    (operator === 'eq' && value === expected) ||
    (operator === 'starts-with' && (value ?? '').startsWith(expected));
  if (holds) return;
  throw accessDenied(
    `Invalid according to Policy: Policy Condition failed: ${JSON.stringify([operator, first, second])}`,
  );
}

function sizes(size: number, name: string, limit: string | number): Record<string, string> {
  return { ProposedSize: String(size), [name]: String(limit) };
}
