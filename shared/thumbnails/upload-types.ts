/** What may be uploaded by form: what the worker reads and a browser can be expected to call it. */
export const UPLOAD_TYPES = [
  'image/jpeg',
  'image/png',
  'image/webp',
  'image/avif',
  'image/gif',
  'image/tiff',
  'image/svg+xml',
] as const;
