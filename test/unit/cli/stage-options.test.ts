import { expect, test } from 'vitest';
import { openStage, requireSignIn } from '../../../cli/deploy/stage-options.ts';
import { UsageError } from '../../../cli/usage-error.ts';

const ISSUED = { issuer: 'https://issuer.example', audience: 'shop', clientId: 'pages' };

test('what is for one deployment alone has precedence over the configuration', () => {
  const stage = openStage('production', { ...ISSUED, architecture: 'x86_64' });
  expect(stage.config).toMatchObject({
    architecture: 'x86_64',
    authentication: { issuer: 'https://issuer.example', audience: 'shop' },
  });
  expect(() => requireSignIn(stage)).not.toThrow();
});

test('a deployment of which nobody has said who may call it is refused before anything is done', () => {
  const stage = openStage();
  expect(() => requireSignIn(stage)).toThrow(UsageError);
  expect(() => requireSignIn(stage)).toThrow(/by --issuer of "npm run deploy"/);
});

test('what is wrong is told as a wrong call', () => {
  const opened = (...given: Parameters<typeof openStage>) => expect(() => openStage(...given));
  opened('nowhere').toThrow(
    new UsageError('--stage: expected one of production, staging, got "nowhere".'),
  );
  opened('toString').toThrow(UsageError);
  opened('production', { ...ISSUED, issuer: 'http://issuer.example' }).toThrow(UsageError);
  opened('production', { architecture: 'sparc' }).toThrow(
    new UsageError('--architecture: expected one of "arm64"|"x86_64", got "sparc".'),
  );
});

test.each([
  ['issuer', '--issuer', 'http://issuer.example'],
  ['audience', '--audience', 'two words'],
  ['clientId', '--client-id', 'two words'],
])('a wrong %s is blamed on %s, by which it came', (key, option, value) => {
  expect(() => openStage('production', { ...ISSUED, [key]: value })).toThrow(
    new RegExp(`^${option}: expected .*, got "${value}"\\.$`),
  );
});
