import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { DeleteCommand, ScanCommand } from '@aws-sdk/lib-dynamodb';
import { expect } from 'vitest';
import { z } from 'zod';
import type { FleetTable } from '../../shared/fleet/line-item.ts';
import { addUsage, NO_USAGE } from '../../shared/fleet/usage-item.ts';
import { signedIn } from '../callers.ts';
import { violations } from './accessibility.ts';
import type { Cloud } from './cloud.ts';
import { test } from './visitor.ts';

// The fleet page as an operator meets it, with what workers would have added up.

const tableOf = ({ table, endpoints }: Cloud): FleetTable => ({
  client: table.client,
  name: endpoints.tables.fleet ?? '',
});

/** Other files' imports have used the same fleet. */
async function forget({ client, name }: FleetTable): Promise<void> {
  const { Items = [] } = await client.send(new ScanCommand({ TableName: name }));
  for (const { line, at } of z.array(z.object({ line: z.string(), at: z.number() })).parse(Items)) {
    await client.send(new DeleteCommand({ TableName: name, Key: { line, at } }));
  }
}

/** A chunk that nobody can have before the test is over: there is more to do. */
async function queueOne({ endpoints }: Cloud): Promise<void> {
  const { sqs: endpoint, region, credentials, queues } = endpoints;
  const client = new SQSClient({ endpoint, region, credentials });
  const message = { QueueUrl: queues.bulk ?? '', MessageBody: '{}', DelaySeconds: 900 };
  await client.send(new SendMessageCommand(message));
}

/** As bulk workers that use the account up, since two minutes and for as long as the test may take. */
async function useUp(table: FleetTable): Promise<void> {
  const now = Date.now();
  const calls = { calls: 830, serviceMs: 664_000, processes: 9, allowanceMs: 150_000 };
  for (let ago = -180; ago < 120; ago += 10) {
    const tokens = { inputTokens: 200_000, outputTokens: 80_000 };
    await addUsage(table, 'bulk', { ...NO_USAGE, ...calls, ...tokens }, now - ago * 1000);
  }
}

test('an operator reads what limits the fleet, in words and in charts', async ({
  cloud,
  visitor: { page, mayFail },
}) => {
  const table = tableOf(cloud);
  await page.goto(cloud.endpoints.web);
  await forget(table);
  await page.getByRole('link', { name: 'Fleet', exact: true }).click();
  await page.getByText('Nothing was called in the last ten minutes').waitFor();
  expect(await page.locator('canvas').count()).toBe(0);
  expect(await violations(page)).toEqual([]);

  await useUp(table);
  await queueOne(cloud);
  await page.reload();
  await page.getByRole('heading', { name: 'The account is used' }).waitFor();
  await page.getByText(/requests are used: 83 of 83\.3 a second \(100 %\)/).waitFor();
  await page.getByText('Ask the provider for a larger quota').waitFor();
  // Beside the tiles, which are means of a while, and of a queue what it is just now.
  await page.getByText('Means of the last 60 s; chunks as they are now, with').waitFor();
  const charts = page.locator('.plot canvas');
  await expect.poll(() => charts.count()).toBe(6);
  const named = page.getByRole('img', { name: /^Calls a second .* Bulk 83 now, 83 at most/ });
  await named.waitFor();
  // Something is drawn, in the colors of the style sheet.
  const drawn = () =>
    page.evaluate(
      `(() => {
        const canvas = document.querySelector('.plot canvas');
        const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
        const colors = new Set();
        for (let i = 0; i < data.length; i += 4) if (data[i + 3] === 255) colors.add(data.slice(i, i + 3).join());
        const key = getComputedStyle(document.querySelector('.key.bulk')).color;
        return colors.has(key.match(/\\d+/g).join());
      })()`,
    );
  await expect.poll(drawn).toBe(true);
  const plan = page.getByRole('row', { name: /^fleet bound/i });
  expect(await plan.textContent()).toMatch(/134 in flight.*66\.67 in flight, × 2 /);
  expect(await violations(page)).toEqual([]);

  await page.emulateMedia({ colorScheme: 'dark' });
  await expect.poll(drawn).toBe(true);
  expect(await violations(page)).toEqual([]);

  await page.setViewportSize({ width: 390, height: 844 });
  await expect
    .poll(() => page.evaluate('document.documentElement.scrollWidth'))
    .toBeLessThanOrEqual(390);
  await expect
    .poll(() => page.evaluate(`document.querySelector('.uplot').offsetWidth`))
    .toBeLessThan(390);

  mayFail(/\/fleet$/);
  await page.route('**/fleet', (route) => route.abort());
  await page.reload();
  await page.getByRole('alert').getByText('Glimpse cannot be reached.').waitFor();
  expect(await violations(page)).toEqual([]);
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.unroute('**/fleet');
  await page.getByRole('heading', { name: 'The account is used' }).waitFor();
}, 120_000);

test('npm run explain says why an import takes so long, or what was wrong with the question', async ({
  cloud,
}) => {
  const { endpoints } = cloud;
  await forget(tableOf(cloud));
  await useUp(tableOf(cloud));
  const created = await fetch(`${endpoints.api}/imports`, {
    method: 'POST',
    headers: signedIn(endpoints),
    body: JSON.stringify({ name: 'autumn.csv', mode: 'bulk' }),
  });
  const { importId } = z.object({ importId: z.string() }).parse(await created.json());
  const folder = await mkdtemp(join(tmpdir(), 'glimpse-explain-'));
  try {
    const outputs = join(folder, 'outputs.json');
    await writeFile(outputs, JSON.stringify({ Glimpse: endpoints.outputs }));
    await writeFile(join(folder, 'endpoints.json'), JSON.stringify(endpoints));
    const told = await explain('--import', importId, '--state', folder);
    expect(told).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^“autumn.csv” \(bulk\) waits for its file\.\nWhat would help:\n/),
      err: '',
    });
    const json = await explain('--import', importId, '--outputs', outputs, '--json', {
      GLIMPSE_TOKEN: endpoints.token ?? '',
    });
    expect(JSON.parse(json.out)).toMatchObject({
      code: 'awaiting-upload',
      measured: { serviceSeconds: 0.8 },
    });
    expect(await explain('--import', 'none', '--state', folder)).toMatchObject({
      code: 1,
      err: expect.stringMatching(/^explain: .*import/),
    });
    expect(await explain('--state', folder)).toMatchObject({
      code: 2,
      err: expect.stringContaining('or --import ID'),
    });
    expect(await explain('--imports', 'x')).toMatchObject({ code: 2 });
    expect((await explain('--help')).out).toContain('--json');
  } finally {
    await rm(folder, { recursive: true });
  }
}, 120_000);

function explain(
  ...given: (string | Record<string, string>)[]
): Promise<{ code: number; out: string; err: string }> {
  const options = given.filter((each) => typeof each === 'string');
  const env = Object.assign({}, process.env, ...given.filter((each) => typeof each !== 'string'));
  return new Promise((resolve) => {
    execFile(process.execPath, ['cli/explain.ts', ...options], { env }, (error, out, err) => {
      const code = error === null ? 0 : Number(error.code);
      resolve({ code, out: out.trim(), err: err.trim() });
    });
  });
}
