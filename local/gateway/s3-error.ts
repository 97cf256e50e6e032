import { randomBytes } from 'node:crypto';
import { escapeXml } from './xml.ts';

/** An answer by which S3 refuses. */
export class S3Error extends Error {
  readonly status: number;
  /** Such as `AccessDenied`. */
  readonly code: string;
  /** Further elements of the answer, such as `Key`. */
  readonly details: Readonly<Record<string, string>>;

  constructor(
    status: number,
    code: string,
    message: string,
    details: Readonly<Record<string, string>> = {},
  ) {
    super(message);
    this.name = 'S3Error';
    this.status = status;
    this.code = code;
    this.details = details;
  }

  toXml(): string {
    const elements = { Code: this.code, Message: this.message, ...this.details };
    const inner = Object.entries({ ...elements, RequestId: requestId() })
      .map(([name, value]) => `<${name}>${escapeXml(value)}</${name}>`)
      .join('');
    return `<?xml version="1.0" encoding="UTF-8"?>\n<Error>${inner}</Error>`;
  }
}

export function requestId(): string {
  return randomBytes(8).toString('hex').toUpperCase();
}

export const accessDenied = (message = 'Access Denied', details = {}) =>
  new S3Error(403, 'AccessDenied', message, details);

export const notImplemented = (what: string) =>
  new S3Error(501, 'NotImplemented', `The local cloud does not implement ${what}.`);
