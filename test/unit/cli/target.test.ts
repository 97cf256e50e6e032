import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { requirePlaces } from '../../../cli/deploy/require-places.ts';
import { openProviderAddress, openTarget } from '../../../cli/target.ts';
import { UsageError } from '../../../cli/usage-error.ts';

// What a command is told to work with, and it is not there.

const folder = mkdtempSync(join(tmpdir(), 'glimpse-target-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const CARD = {
  ...{ name: 'card', width: 320, height: 320, fit: 'inside' },
  ...{ format: 'webp', quality: 80, orientation: 'exif' },
};

/** A folder with one file. */
function holding(name: string, text: string): string {
  const path = mkdtempSync(join(folder, 'state-'));
  writeFileSync(join(path, name), text);
  return path;
}

describe('a local cloud', () => {
  /** Where nothing listens any more. */
  let gone = '';
  beforeAll(async () => {
    const server = createServer();
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('No port.');
    gone = `http://127.0.0.1:${address.port}`;
    await new Promise((done) => server.close(done));
  });

  const endpoints = () =>
    JSON.stringify({
      ...{ s3: gone, sqs: gone, dynamodb: gone, provider: gone, region: 'us-east-1' },
      credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
      outputs: {
        OriginalsBucket: 'originals',
        ImagesTable: 'images',
        EagerQueueUrl: `${gone}/eager`,
        Variants: JSON.stringify([CARD]),
      },
    });

  test('that was killed is told of in one sentence', async () => {
    const state = holding('endpoints.json', endpoints());
    const sentence = new UsageError(
      `The local cloud does not answer at ${gone}: start it with "npm start".`,
    );
    await expect(openTarget(undefined, state)).rejects.toThrow(sentence);
    await expect(openProviderAddress(state)).rejects.toThrow(sentence);
  });

  test.each(['{', '[]', '{"s3":5}'])('whose file holds %s is told of, too', async (text) => {
    const state = holding('endpoints.json', text);
    await expect(openTarget(undefined, state)).rejects.toThrow(
      new UsageError(
        `${state}/endpoints.json says of no local cloud: expected what "npm start" writes, so start it again.`,
      ),
    );
    await expect(openProviderAddress(state)).rejects.toThrow(UsageError);
  });

  test('that never was is told of, too', async () => {
    await expect(openTarget(undefined, join(folder, 'none'))).rejects.toThrow(
      /^There is no .*none\/endpoints\.json: start the local cloud/,
    );
  });
});

describe('a deployment', () => {
  const outputs = join(folder, 'outputs.json');

  test('of what was synthesised has a place for its outputs', () => {
    expect(() => requirePlaces(holding('Glimpse.template.json', '{}'), outputs)).not.toThrow();
    expect(() => requirePlaces(undefined, outputs)).not.toThrow();
  });

  test.each(['/nope', process.execPath, folder])('of %s is refused', (app) => {
    expect(() => requirePlaces(app, outputs)).toThrow(
      new UsageError(
        `--app: expected a folder that "npm run synth" has written, got ${app}, without a Glimpse.template.json.`,
      ),
    );
  });

  test('whose outputs would be a folder is refused', () => {
    mkdirSync(outputs);
    expect(() => requirePlaces(undefined, outputs)).toThrow(
      new UsageError(`--outputs: expected a file, got the folder ${outputs}.`),
    );
  });
});
