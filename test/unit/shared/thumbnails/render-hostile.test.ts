import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { GlimpseError } from '../../../../shared/errors.ts';
import { render } from '../../../../shared/thumbnails/render.ts';
import type { Variant } from '../../../../shared/thumbnails/variant.ts';
import { HOSTILE_IMAGES } from '../../../hostile-images.ts';
import { quarters, svg } from '../../../pictures.ts';

const LIMITS = { memoryBytes: 1769 * 1024 * 1024 };
const CARD: Variant = {
  name: 'card',
  width: 480,
  height: 480,
  fit: 'inside',
  format: 'webp',
  quality: 75,
  orientation: 'exif',
};

/** What became of the bytes: `ready`, a class of ours, or the error that nobody classified. */
async function outcome(bytes: Uint8Array, variant = CARD) {
  try {
    const { variants } = await render(bytes, [variant], LIMITS);
    return { state: 'ready', variants, message: '' };
  } catch (error) {
    if (!(error instanceof GlimpseError)) throw error;
    return { state: error.code, variants: [], message: error.message };
  }
}

// The test of peak memory renders those of 200 MP, which take seconds to decode.
const QUICK = HOSTILE_IMAGES.filter(({ name }) => !name.endsWith('JPEG of 200 MP'));

describe('each hostile image has its class and a sentence', () => {
  test.each(QUICK)('$name: $expected', async ({ bytes, expected }) => {
    const { state, variants, message } = await outcome(await bytes());
    expect(state).toBe(expected);
    if (expected === 'ready') {
      for (const { width, height } of variants)
        expect(Math.max(width, height)).toBeLessThanOrEqual(480);
      return;
    }
    expect(message).toMatch(/^expected .+ (and|and the|and this) .+|is not supported: /);
    // The words of libvips and its loaders are for the log.
    expect(message).not.toMatch(/vips|load_buffer|libpng|\n|Input buffer/i);
  });
});

describe('never an error without a class', () => {
  const STATES = ['ready', 'unsupported', 'corrupt', 'too-large'];
  const SMALL: Variant = { ...CARD, width: 16, height: 16 };

  test('random bytes', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 300 }), async (bytes) => {
        expect(STATES).toContain((await outcome(bytes, SMALL)).state);
      }),
      { numRuns: 300 },
    );
  });

  test.each(['jpeg', 'png', 'webp', 'avif', 'gif', 'tiff'] as const)(
    'random changes to and cuts of a %s',
    async (format) => {
      const whole = await quarters(48, 32)
        .withExif({ IFD0: { Copyright: 'someone' } })
        .withIccProfile('p3')
        .toFormat(format)
        .toBuffer();
      const change = fc.tuple(fc.nat(whole.length - 1), fc.nat(255));
      const changes = fc.array(change, { minLength: 1, maxLength: 8 });
      const length = fc.oneof(fc.constant(whole.length), fc.nat(whole.length));
      await fc.assert(
        fc.asyncProperty(changes, length, async (edits, kept) => {
          const bytes = Buffer.from(whole);
          for (const [at, value] of edits) bytes[at] = value;
          expect(STATES).toContain((await outcome(bytes.subarray(0, kept), SMALL)).state);
        }),
        { numRuns: 120 },
      );
    },
  );

  test('random changes to an SVG', async () => {
    const whole = svg('<g opacity=".5"><rect width="9" height="9" fill="red"/></g><text>a</text>');
    await fc.assert(
      fc.asyncProperty(fc.nat(whole.length - 1), fc.nat(255), async (at, value) => {
        const bytes = Buffer.from(whole);
        bytes[at] = value;
        expect(STATES).toContain((await outcome(bytes, SMALL)).state);
      }),
      // Each that is still well-formed costs a process.
      { numRuns: 12 },
    );
  });
});
