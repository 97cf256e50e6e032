/** What went wrong, in the API's words where it had some. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  /** HTTP's, or 0 where there was no answer. */
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.status = status;
    this.code = code;
  }
}
