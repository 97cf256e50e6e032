/** An error that needs no stack trace: it says what to do. */
export class UsageError extends Error {}
