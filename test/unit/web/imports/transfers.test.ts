import { expect, test } from 'vitest';
import { readImport } from '../../../../web/imports/import-view.ts';
import { createTransfers, troubleOf } from '../../../../web/imports/transfers.ts';
import { ApiError } from '../../../../web/shell/api-error.ts';
import type { Sending } from '../../../../web/shell/send-form.ts';
import { told } from './told.ts';

const form = { url: 'https://s3.example', fields: {}, expiresAt: '2026-01-02T03:04:00.000Z' };
const file = new File(['a;b\n1;2\n'], 'goods.csv');
const wanted = { name: 'goods.csv', mode: 'interactive' } as const;

function stage() {
  const sendings: (Sending<File> & { end: (error?: unknown) => void })[] = [];
  const cancelled: string[] = [];
  let created = 0;
  const transfers = createTransfers(
    {
      create: async () => {
        created += 1;
        return { importId: `import-${created}`, form };
      },
      act: async (importId, action) => {
        cancelled.push(`${action} ${importId}`);
        return readImport(told({ state: 'cancelled' }));
      },
    },
    (sending) =>
      new Promise((resolve, reject) => {
        const end = (error?: unknown) => (error === undefined ? resolve() : reject(error));
        sendings.push({ ...sending, end });
      }),
  );
  return { transfers, sendings, cancelled };
}

test('a file is sent after its import is there, and stays at hand', async () => {
  const { transfers, sendings } = stage();
  const importId = await transfers.begin(file, wanted);
  expect(transfers.sending).toBe(true);
  sendings[0]?.onProgress(4);
  expect(transfers.state.byImport.get(importId)).toMatchObject({ sent: 4, state: 'sending' });
  sendings[0]?.end();
  await Promise.resolve();
  expect(transfers.state.byImport.get(importId)).toMatchObject({ state: 'sent', file });
  expect(transfers.sending).toBe(false);
});

test('what is read again takes the place of what was read before', async () => {
  const { transfers, sendings, cancelled } = stage();
  const first = await transfers.begin(file, wanted);
  const second = await transfers.begin(file, { ...wanted, encoding: 'windows-1250' }, first);
  expect(cancelled).toEqual([`cancel ${first}`]);
  expect(sendings[0]?.signal.aborted).toBe(true);
  expect([...transfers.state.byImport.keys()]).toEqual([second]);
});

test('what went wrong is told with what to do', async () => {
  const { transfers, sendings } = stage();
  const importId = await transfers.begin(file, wanted);
  sendings[0]?.end(Object.assign(new Error('no'), { status: 403, code: 'AccessDenied' }));
  await new Promise((done) => setTimeout(done));
  expect(transfers.state.byImport.get(importId)).toMatchObject({
    state: 'failed',
    trouble: 'The permission to upload ran out. Send it again to get a new one.',
  });
  expect(troubleOf(Object.assign(new Error(), { status: 0, code: 'unreadable' }))).toMatch(/moved/);
  expect(troubleOf(Object.assign(new Error(), { status: 503, code: 'SlowDown' }))).toMatch(/busy/);
  expect(troubleOf(new ApiError(400, 'invalid', 'one sentence'))).toBe('one sentence');
  expect(troubleOf('?')).toMatch(/network/);
});
