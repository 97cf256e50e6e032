import { expect, test } from 'vitest';
import { explainImage } from '../../../cli/explain/explain-image.ts';
import type { ImageFacts } from '../../../cli/explain/read-image.ts';
import type { ImageItem } from '../../../shared/thumbnails/image-item.ts';
import { recipeOf, type Variant } from '../../../shared/thumbnails/variant.ts';

const NOW = Date.parse('2026-03-01T12:00:00Z');
const MINUTE = 60_000;

const card: Variant = {
  name: 'card',
  width: 480,
  height: 480,
  fit: 'inside',
  format: 'webp',
  quality: 75,
  orientation: 'exif',
};
const recipe = recipeOf(card, 'c.jpg');
const modified = new Date(NOW - 60 * MINUTE);

const made = {
  name: 'c.jpg',
  etag: 'aa',
  width: 3000,
  height: 2000,
  variants: { card: { recipe, width: 480, height: 320 } },
  deaths: 0,
} satisfies ImageItem;

function facts(changes: Partial<ImageFacts> = {}): ImageFacts {
  return {
    image: 'a/c.jpg',
    original: { etag: 'aa', bytes: 2_300_000, modified },
    item: made,
    thumbnails: [
      {
        variant: 'card',
        recipe,
        key: 'a/c.jpg/aa/card.webp',
        object: { etag: 'bb', bytes: 20_400, modified },
        url: 'https://there/card.webp',
      },
    ],
    ...changes,
  };
}

const unmade = [{ variant: 'card', recipe: '' }];
const unknown: ImageItem = { name: 'c.jpg', variants: {}, deaths: 0 };
const explain = (changes?: Partial<ImageFacts>) => explainImage(facts(changes), [card], NOW);

test('an image that is ready: its source, version, and each thumbnail with its URL', () => {
  expect(explain()).toMatchObject({
    code: 'ready',
    words: [
      'a/c.jpg is in the originals bucket: 2.3 MB, ETag aa, written 2026-03-01 11:00:00 UTC.',
      'Its record is of the ETag aa, 3000 × 2000 px upright.',
      'card: 20.4 KB, made 2026-03-01 11:00:00 UTC, https://there/card.webp',
    ],
    help: [],
  });
});

test('an image that nobody asked for, and one that is not there', () => {
  expect(explain({ item: unknown, thumbnails: unmade })).toMatchObject({
    code: 'cold',
    words: [expect.anything(), 'No thumbnail of it is recorded.', 'card: not made.'],
  });
  expect(explain({ original: undefined, item: unknown, thumbnails: unmade })).toMatchObject({
    code: 'unknown',
    words: [
      'a/c.jpg is not in the originals bucket.',
      'Nothing is recorded of it: it never was there, or it was removed.',
      'card: not made.',
    ],
  });
  expect(explain({ original: undefined }).code).toBe('missing');
  expect(explain({ original: undefined, item: { ...unknown, deaths: 1 } }).code).toBe('missing');
});

test('a failure: its class, its reason and the next try', () => {
  const failure = { class: 'corrupt', reason: 'it ends early', retryAt: NOW + MINUTE } as const;
  const failed = explain({ item: { ...unknown, failure }, thumbnails: unmade });
  expect(failed.code).toBe('failed');
  expect(failed.words).toContain(
    'Its last try failed as corrupt: it ends early; it is tried again when it is asked for after 2026-03-01 12:01:00 UTC.',
  );
  const over = { ...failure, retryAt: NOW - MINUTE };
  const due = explain({ item: { ...unknown, failure: over }, thumbnails: unmade });
  expect(due.code).toBe('cold');
  expect(due.words.at(-1)).toMatch(/it is tried again when it is next asked for\.$/);
});

test('work on its way, and a claim whose worker did not come back', () => {
  const claim = { kind: 'working', owner: 'w', until: NOW + MINUTE } as const;
  const working = explain({ item: { ...unknown, claim }, thumbnails: unmade });
  expect(working.code).toBe('pending');
  expect(working.words).toContain(
    'A worker is at it; its claim is good until 2026-03-01 12:01:00 UTC.',
  );
  const queued = explain({
    item: { ...unknown, claim: { ...claim, kind: 'queued' } },
    thumbnails: unmade,
  });
  expect(queued.words.at(-1)).toMatch(/^It is queued;/);
  const lapsed = explain({
    item: { ...unknown, deaths: 2, claim: { ...claim, until: NOW - 1 } },
    thumbnails: unmade,
  });
  expect(lapsed.code).toBe('cold');
  expect(lapsed.words).toContain(
    'A working claim lapsed at 2026-03-01 11:59:59 UTC: whoever asks next claims it again.',
  );
  expect(lapsed.words.at(-1)).toMatch(/^2 workers died with it in hand/);
});

test('thumbnails of an older version, of an earlier configuration, and lost ones', () => {
  const replaced = explain({ original: { etag: 'cc', bytes: 9, modified } });
  expect(replaced.code).toBe('stale');
  expect(replaced.words[1]).toMatch(/: an older version than the one in the bucket\.$/);

  const [there] = facts().thumbnails;
  const earlier = explain({ thumbnails: [{ ...there, variant: 'card', recipe: 'other' }] });
  expect(earlier.code).toBe('cold');
  expect(earlier.words[2]).toContain('by an earlier configuration');

  const lost = explain({ thumbnails: [{ ...there, variant: 'card', recipe, object: undefined }] });
  expect(lost.code).toBe('lost');
  expect(lost.help[0]).toContain('npm run backfill -- --gallery G --lost');
  expect(lost.words[2]).toBe('card: recorded as made, but a/c.jpg/aa/card.webp is not there.');
});
