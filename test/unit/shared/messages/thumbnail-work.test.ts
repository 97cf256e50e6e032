import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { MalformedMessageError } from '../../../../shared/errors.ts';
import {
  encodeRequest,
  padSequencer,
  parseMessage,
} from '../../../../shared/messages/thumbnail-work.ts';

/** As S3 writes it. */
function notification(eventName: string, key: string, object: object = {}): string {
  return JSON.stringify({
    Records: [
      {
        eventVersion: '2.1',
        eventSource: 'aws:s3',
        eventName,
        s3: { bucket: { name: 'photos' }, object: { key, sequencer: '0A', ...object } },
      },
    ],
  });
}

describe('a request', () => {
  test('carries every key through a queue that takes printable ASCII', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', minLength: 1 }), (image) => {
        const body = encodeRequest(image);
        expect(body).toMatch(/^[\x20-\x7f]*$/);
        expect(parseMessage(body)).toEqual([{ kind: 'wanted', image }]);
      }),
    );
  });
});

describe("S3's notification", () => {
  test.each([
    ['a%2Bb+c.png', 'a+b c.png'],
    ['100%2525.png', '100%25.png'],
    ['%F0%9F%98%80.png', '😀.png'],
    ['e%CC%81.png', 'e\u0301.png'],
  ])('%s is decoded once, the plus first', (key, image) => {
    const body = notification('ObjectCreated:Put', key, { eTag: 'abc' });
    expect(parseMessage(body)).toEqual([{ kind: 'created', image, etag: 'abc', sequencer: '0A' }]);
  });

  test.each(['ObjectRemoved:Delete', 'ObjectRemoved:DeleteMarkerCreated'])(
    '%s is a removal',
    (name) => {
      expect(parseMessage(notification(name, 'a.png'))).toEqual([
        { kind: 'removed', image: 'a.png', sequencer: '0A' },
      ]);
    },
  );

  test('of a folder, of a test and of anything else asks for nothing', () => {
    expect(parseMessage(notification('ObjectCreated:Put', 'a/b/', { eTag: 'abc' }))).toEqual([]);
    expect(parseMessage(notification('ObjectTagging:Put', 'a.png', { eTag: 'abc' }))).toEqual([]);
    expect(
      parseMessage('{"Service":"Amazon S3","Event":"s3:TestEvent","Bucket":"photos"}'),
    ).toEqual([]);
  });
});

describe('what no retry makes readable', () => {
  test.each(['', 'null', '{}', '[]', '{"image":""}', '{"image":"a","more":1}', '{"Records":[{}]}'])(
    'is malformed: %s',
    (body) => {
      expect(() => parseMessage(body)).toThrow(MalformedMessageError);
    },
  );

  test('is malformed, too, where the key is not URL-encoded', () => {
    const body = notification('ObjectCreated:Put', '%zz', { eTag: 'abc' });
    expect(() => parseMessage(body)).toThrow(MalformedMessageError);
  });
});

test('sequencers of different lengths compare as S3 says, padded on the right', () => {
  expect(padSequencer('0055aed6dcd90281e5') < padSequencer('0055AED6DCD90281E6')).toBe(true);
  expect(padSequencer('0B') < padSequencer('0B1')).toBe(true);
  expect(padSequencer('0B1') < padSequencer('0C')).toBe(true);
  expect(padSequencer('ab')).toBe(padSequencer('AB00'));
});
