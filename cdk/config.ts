import type { ConfigInput } from './config-schema.ts';

/** The whole configuration. A wrong value fails at `cdk synth` with one sentence; README explains each. */
export const config: ConfigInput = {
  variants: [
    {
      name: 'card',
      width: 480,
      height: 480,
      fit: 'inside',
      format: 'webp',
      quality: 75,
      orientation: 'exif',
    },
    {
      name: 'zoom',
      width: 1600,
      height: 1600,
      fit: 'inside',
      format: 'webp',
      quality: 80,
      orientation: 'exif',
    },
  ],
  delivery: { kind: 'presigned', windowSeconds: 3600 },
  concurrency: { onDemand: 10, eager: 5, reserved: true },
  memoryMb: { api: 1024, worker: 1769 },
  architecture: 'arm64',
  allowedOrigins: ['*'],
  adopt: {},
  uploads: { maxBytes: 50_000_000 },
  pages: { grid: 'card', large: 'zoom' },
  throttle: { requestsPerSecond: 500, burst: 1000 },
};
