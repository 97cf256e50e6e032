import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { put, settled, thumbnails, until } from '../flows/target.ts';
import { violations } from './accessibility.ts';
import type { Cloud } from './cloud.ts';
import { photo } from './photos.ts';
import { allShown, test } from './visitor.ts';

// With the issuer of the local cloud, as with any other: there and back, and again when a token ends.

/** Nobody has signed in before. */
const STRANGER = { token: undefined };

const who = (page: Page, name: string) => page.getByText(name, { exact: true });

async function harbour(cloud: Cloud): Promise<string> {
  const image = 'harbour/pier.jpg';
  await put(cloud.target, image, await photo(3));
  await until(() => thumbnails(cloud.target, [image]), settled);
  return image;
}

test('a first visit signs the developer in by itself, and comes to where it was going', async ({
  cloud,
  visiting,
}) => {
  await harbour(cloud);
  const { page, watched } = await visiting(STRANGER);
  const address = `${cloud.endpoints.web}/?gallery=harbour`;
  await page.goto(address);
  await allShown(page, 1, 40_000);
  expect(page.url()).toBe(address);
  await who(page, 'Dev Eloper').waitFor();
  // Not even once was the API asked by nobody.
  expect(watched.api.length).toBeGreaterThan(0);
  expect(await violations(page)).toEqual([]);
}, 100_000);

test('who cannot be signed in is told what to do', async ({ cloud, visiting }) => {
  const { page, context } = await visiting(STRANGER);
  const { web } = cloud.endpoints;
  const day = 86_400_000;
  await context.clock.install({ time: Date.now() + day });
  await page.goto(web);
  const alert = page.getByRole('alert');
  await alert.getByText('You could not be signed in. The clock of this device is not').waitFor();
  await page.addInitScript(() => {
    Object.defineProperty(globalThis, 'sessionStorage', {
      get() {
        throw new DOMException('The operation is insecure.', 'SecurityError');
      },
    });
  });
  await page.goto(web);
  await alert.getByText(`This browser keeps nothing for ${new URL(web).host}`).waitFor();
});

test('a token that ends is renewed unseen; where it cannot be, what was typed stays until one has signed in again', async ({
  cloud,
  visiting,
}) => {
  await harbour(cloud);
  const visitor = await visiting(STRANGER);
  const { page, context } = visitor;
  const { web, api, issuer } = cloud.endpoints;
  visitor.mayFail(/\/galleries|\/token/);
  await page.goto(web);
  await who(page, 'Dev Eloper').waitFor();
  const link = page.getByRole('link', { name: 'harbour' }).first();
  await link.waitFor();

  const refuse = async (times: number) => {
    let left = times;
    await page.route(`${api}/galleries*`, (route) => {
      if (left-- > 0 && route.request().method() !== 'OPTIONS') {
        const headers = { 'access-control-allow-origin': '*' };
        return route.fulfill({ status: 401, headers, json: { message: 'Unauthorized' } });
      }
      return route.fallback();
    });
  };
  const askAgain = async () => {
    await page.getByRole('link', { name: 'harbour' }).first().click();
    await page.getByRole('link', { name: 'Glimpse' }).click();
  };
  await refuse(1);
  const renewed = page.waitForResponse(`${issuer}/token`);
  await askAgain();
  expect((await renewed).status()).toBe(200);
  await link.waitFor();
  await page.unroute(`${api}/galleries*`);

  // Renewed, and not taken either: no other try would help.
  await refuse(1000);
  await askAgain();
  await page.getByText('Your sign-in is not accepted here. Sign in again, or').waitFor();
  expect(await page.getByRole('button', { name: 'Sign in again' }).count()).toBe(1);
  await page.unroute(`${api}/galleries*`);
  await page.getByRole('button', { name: 'Try again' }).click();
  await link.waitFor();
  expect(await page.getByText('not accepted here').count()).toBe(0);

  // The issuer wants to see somebody.
  await context.route(`${issuer}/token`, (route) =>
    route.request().postData()?.includes('refresh_token') === true
      ? route.fulfill({
          status: 400,
          headers: { 'access-control-allow-origin': '*' },
          json: { error: 'invalid_grant' },
        })
      : route.fallback(),
  );
  await refuse(1);
  await askAgain();
  const again = page.getByRole('button', { name: 'Sign in again' });
  await again.waitFor();
  expect(await violations(page)).toEqual([]);
  const name = page.getByRole('textbox').first();
  await name.fill('half a na');
  const [beside] = await Promise.all([context.waitForEvent('page'), again.click()]);
  await again.waitFor({ state: 'detached' });
  await link.waitFor();
  expect(await name.inputValue()).toBe('half a na');
  if (!beside.isClosed()) await beside.getByText('This window can be closed').waitFor();
}, 120_000);

test('whoever signs out can be somebody else, who sees less', async ({ cloud, visiting }) => {
  await harbour(cloud);
  await put(cloud.target, 'orchard/tree.jpg', await photo(4));
  await until(() => thumbnails(cloud.target, ['orchard/tree.jpg']), settled);
  const visitor = await visiting(STRANGER);
  const { page } = visitor;
  const { web } = cloud.endpoints;
  // An operator, who sees the imports of all where they ask for them.
  await page.goto(`${web}/imports.html`);
  const whose = page.getByRole('navigation', { name: 'Whose imports' });
  await whose.getByRole('link', { name: 'Mine', exact: true }).waitFor();
  const answered = page.waitForResponse(/imports\?of=everyone$/);
  await whose.getByRole('link', { name: 'Everyone’s' }).click();
  await answered;
  await whose.locator('[aria-current]:focus', { hasText: 'Everyone’s' }).waitFor();
  expect(page.url()).toBe(`${web}/imports.html?of=everyone`);
  await page.reload();
  await whose.locator('[aria-current]', { hasText: 'Everyone’s' }).waitFor();
  expect(await violations(page)).toEqual([]);
  await page.goto(web);
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByText('You are signed out.').waitFor();
  expect(await violations(page)).toEqual([]);
  // Nor does Back let anybody in without a word.
  await page.goBack();
  await page.getByRole('link', { name: 'Rhea Reader' }).waitFor();
  await page.goto(`${web}/signin.html?signed-out`);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('link', { name: 'Rhea Reader' }).click();
  await who(page, 'Rhea Reader').waitFor();
  await page.getByRole('link', { name: 'harbour' }).first().waitFor();
  expect(await page.getByRole('link', { name: 'orchard' }).count()).toBe(0);
  // What they may not do is not offered.
  const add = page.getByRole('button', { name: 'Add pictures' });
  const images = Promise.withResolvers<void>();
  await page.route(/\/images\?/, async (route) => {
    await images.promise;
    await route.fallback();
  });
  await page.reload();
  await page.getByRole('link', { name: 'harbour' }).first().click();
  // Neither as long as nobody knows.
  await page.getByText('Looking into the folder').waitFor();
  expect(await add.count()).toBe(0);
  images.resolve();
  await allShown(page, 1, 40_000);
  await add.waitFor({ state: 'detached' });
  await page.goto(`${web}/?gallery=harbour/nothing`);
  const none = page.getByRole('heading', { name: 'No pictures that you may see' });
  await none.waitFor();
  expect(await add.count()).toBe(0);
  expect(await violations(page)).toEqual([]);
  // An operator's link shows them their own.
  visitor.mayFail(/\/imports\?of=everyone/);
  await page.goto(`${web}/imports.html?of=everyone`);
  await page.waitForURL(`${web}/imports.html`);
  await page.getByText('No imports yet').waitFor();
  expect(await whose.count()).toBe(0);
  // Who sees no gallery is offered none that they could not see.
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('link', { name: 'Oscar Operator' }).click();
  await who(page, 'Oscar Operator').waitFor();
  await page.goto(web);
  await page.getByRole('heading', { name: 'No galleries yet' }).waitFor();
  expect(await page.getByRole('button', { name: 'Make the sample gallery' }).count()).toBe(0);
  await page.getByLabel('A gallery of your own').last().fill('sample');
  await page.getByRole('button', { name: 'Open', exact: true }).click();
  await none.waitFor();
}, 100_000);
