import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { MalformedMessageError } from '../../../../shared/errors.ts';
import { encodeChunkWork, parseChunkWork } from '../../../../shared/messages/chunk-work.ts';
import { encodeJob, type ImportJob, parseJobs } from '../../../../shared/messages/import-job.ts';

const tries = fc.option(fc.dictionary(fc.nat().map(String), fc.integer({ min: 1 })), {
  nil: undefined,
});

describe('a chunk’s message', () => {
  test('is what was sent', () => {
    const work = fc.record({
      importId: fc.string({ minLength: 1 }),
      chunk: fc.integer({ min: 1 }),
      round: fc.nat(),
    });
    fc.assert(
      fc.property(work, tries, (sent, tried) => {
        const whole = tried === undefined ? sent : { ...sent, tries: tried };
        expect(parseChunkWork(encodeChunkWork(whole))).toEqual(whole);
      }),
    );
  });

  test.each([
    '',
    'null',
    '[]',
    '7',
    '{}',
    '{"importId":"a","chunk":1}',
    '{"importId":"","chunk":1,"round":0}',
    '{"importId":"a","chunk":0,"round":0}',
    '{"importId":"a","chunk":1.5,"round":0}',
    '{"importId":"a","chunk":"1","round":0}',
    '{"importId":"a","chunk":1e300,"round":0}',
    '{"importId":"a","chunk":1,"round":-1}',
    '{"importId":"a","chunk":1,"round":0,"tries":{"1":0}}',
    '{"importId":"a","chunk":1,"round":0,"tries":[1]}',
    '{"importId":"a","chunk":1,"round":0,"more":true}',
    '{"importId":["a"],"chunk":1,"round":0}',
  ])('is refused: %s', (body) => {
    expect(() => parseChunkWork(body)).toThrow(MalformedMessageError);
  });
});

describe('a job’s message', () => {
  test.each<ImportJob>([
    { kind: 'read', key: 'sources/a b+c%.csv', etag: 'e-1' },
    { kind: 'send', importId: 'a' },
    { kind: 'export', importId: 'a', key: 'exports/a/1.csv', onlyFailed: true },
  ])('is what was sent: $kind', (job) => {
    expect(parseJobs(encodeJob(job))).toEqual([job]);
  });

  const notification = (key: string, change: object = {}, object: object = { eTag: 'e' }) =>
    JSON.stringify({
      Records: [
        {
          eventSource: 'aws:s3',
          eventName: 'ObjectCreated:Post',
          s3: { object: { key, ...object } },
          ...change,
        },
      ],
    });

  test.each([
    ['sources/a%2Bb+c.csv', 'sources/a+b c.csv'],
    ['100%2525', '100%25'],
    ['%F0%9F%98%80', '😀'],
  ])('of S3 names its key once decoded: %s', (key, decoded) => {
    expect(parseJobs(notification(key))).toEqual([{ kind: 'read', key: decoded, etag: 'e' }]);
  });

  test('of S3 may bring several, or be a test', () => {
    const { Records } = JSON.parse(notification('a'));
    const both = JSON.stringify({ Records: [...Records, ...Records] });
    expect(parseJobs(both)).toHaveLength(2);
    expect(parseJobs('{"Service":"Amazon S3","Event":"s3:TestEvent"}')).toEqual([]);
  });

  test.each([
    '',
    'null',
    '{}',
    '[]',
    '{"Records":[{}]}',
    '{"kind":"drop","importId":"a"}',
    '{"kind":"send"}',
    '{"kind":"send","importId":"a","more":1}',
    '{"kind":"read","key":"","etag":"e"}',
    '{"kind":"export","importId":"a","key":"k","onlyFailed":"yes"}',
    notification('a', { eventSource: 'aws:sns' }),
    notification('a', { eventName: 'ObjectRemoved:Delete' }),
    notification('a', {}, {}),
    // Not URL-encoded: no retry makes it so.
    notification('%zz'),
    notification('sources/%E0%A4%A.csv'),
  ])('is refused: %s', (body) => {
    expect(() => parseJobs(body)).toThrow(MalformedMessageError);
  });
});
