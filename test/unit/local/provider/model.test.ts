import fc from 'fast-check';
import { expect, test } from 'vitest';
import { write } from '../../../../local/provider/model.ts';
import { countTokens, firstTokens } from '../../../../local/provider/tokens.ts';
import { buildPrompt } from '../../../../shared/summaries/prompt.ts';

const text = (input: string, maxTokens = 1000) =>
  write({ system: '', input, maxTokens }, undefined);
const prompt = (fields: { name: string; value: string }[]) =>
  buildPrompt('', fields, { inputCharacters: 4000, outputTokens: 100 }).input;

test('a row is its name and the first sentence of its longest text', () => {
  const input = prompt([
    { name: 'sku', value: '00123' },
    { name: 'Product name', value: 'Stool “Ä”' },
    { name: 'description', value: 'Oak, 4.5 kg, <b>solid</b>. Made in Denmark.' },
  ]);
  expect(text(input)).toMatchObject({
    ending: 'done',
    text: 'Stool “Ä”: Oak, 4.5 kg, <b>solid</b>.',
  });
});

test.each([
  ['Plain text! And more.', 'Plain text!'],
  ['椅子です。木製。', '椅子です。'],
  ['{"not": "a row"', '{"not": "a row"'],
  [`${'word '.repeat(300)}`, 'word '.repeat(64).trim()],
])('%j is treated as text', (input, summary) => {
  expect(text(input).text).toBe(summary);
});

test('nothing to say is an empty answer', () => {
  expect(text(prompt([]))).toEqual({ text: '', ending: 'empty', outputTokens: 0 });
  expect(text('  ')).toMatchObject({ ending: 'empty' });
});

test('every word is from the input, and no more tokens than allowed, whatever the row', () => {
  const cell = fc.string({ unit: 'grapheme', maxLength: 300 });
  fc.assert(
    fc.property(
      fc.array(fc.record({ name: fc.constantFrom('name', 'text', 'x'), value: cell }), {
        maxLength: 5,
      }),
      fc.integer({ min: 1, max: 60 }),
      (fields, maxTokens) => {
        const written = text(prompt(fields), maxTokens);
        expect(countTokens(written.text)).toBe(written.outputTokens);
        expect(written.outputTokens).toBeLessThanOrEqual(maxTokens);
        const words = fields.flatMap(({ value }) => value.split(/\s+/)).join(' ');
        if (written.ending !== 'done') return;
        for (const part of written.text.split(': ').flatMap((p) => p.split(/\s+/))) {
          expect(words).toContain(part.replace(/:$/, ''));
        }
      },
    ),
  );
});

test('a cut falls between two code points', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'grapheme' }),
      fc.integer({ min: 0, max: 8 }),
      (whole, tokens) => {
        const cut = firstTokens(whole, tokens);
        expect(whole.startsWith(cut)).toBe(true);
        expect(countTokens(cut)).toBeLessThanOrEqual(tokens);
        const more = firstTokens(whole, tokens + 1);
        expect(more.length).toBeGreaterThanOrEqual(cut.length);
      },
    ),
  );
});
