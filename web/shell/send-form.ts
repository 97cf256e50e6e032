import type { UploadForm } from './upload-form.ts';

/** A phone that changes networks leaves a connection on which nothing ever happens again. */
const LONGEST_SILENCE_MS = 60_000;

export interface Sending<F> {
  readonly form: UploadForm;
  readonly file: F;
  readonly signal: AbortSignal;
  /** Bytes so far, of the file or of the whole body. */
  onProgress(sent: number): void;
}

/** S3's answer, or `status` 0 for none; `unreadable` where the file itself is the reason. */
class SendError extends Error {
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string, options?: ErrorOptions) {
    super(`Expected the storage to take the upload, got status ${status} ${code}`.trim(), options);
    this.status = status;
    this.code = code;
  }
}

/** Posts a form by XMLHttpRequest, since `fetch` does not tell how far an upload is. */
export async function sendForm({ form, file, signal, onProgress }: Sending<File>): Promise<void> {
  const body = new FormData();
  for (const [name, value] of Object.entries(form.fields)) body.append(name, value);
  // S3 ignores what follows the file. The key says the name; here an odd one could only do harm.
  body.append('file', file, 'file');
  const { status, text } = await post(form.url, body, signal, onProgress);
  if (status >= 200 && status < 300) return;
  if (status === 0 && !signal.aborted) await assertReadable(file);
  throw new SendError(status, /<Code>([^<]{1,64})<\/Code>/.exec(text)?.[1] ?? '');
}

function post(
  url: string,
  body: FormData,
  signal: AbortSignal,
  onProgress: (sent: number) => void,
): Promise<{ status: number; text: string }> {
  const request = new XMLHttpRequest();
  const abort = () => request.abort();
  let silence = setTimeout(abort, LONGEST_SILENCE_MS);
  const { promise, resolve } = Promise.withResolvers<{ status: number; text: string }>();
  request.upload.addEventListener('progress', ({ loaded }) => {
    clearTimeout(silence);
    silence = setTimeout(abort, LONGEST_SILENCE_MS);
    onProgress(loaded);
  });
  request.addEventListener('loadend', () => {
    clearTimeout(silence);
    signal.removeEventListener('abort', abort);
    resolve({ status: request.status, text: request.responseText });
  });
  signal.addEventListener('abort', abort);
  request.open('POST', url);
  request.send(body);
  return promise;
}

/** A file that was moved or changed since it was chosen fails just like a connection that broke. */
async function assertReadable(file: File): Promise<void> {
  try {
    await file.slice(0, 1).arrayBuffer();
  } catch (cause) {
    throw new SendError(0, 'unreadable', { cause });
  }
}
