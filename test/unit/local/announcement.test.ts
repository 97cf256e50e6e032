import { expect, test } from 'vitest';
import { announcementOf } from '../../../local/announcement.ts';

const at = (port: number) => `http://127.0.0.1:${port}`;
const ENDPOINTS = {
  web: at(4000),
  api: at(4001),
  s3: at(4002),
  sqs: at(4003),
  dynamodb: at(4004),
  provider: at(4005),
  ssm: at(4006),
  issuer: at(4007),
};

test('a start names each page for people, before the addresses for programs', () => {
  const said = announcementOf({ ...ENDPOINTS, outputs: { PagesUrl: at(4000) } });
  expect(said.split('\n').slice(0, 6)).toEqual([
    '  galleries    http://127.0.0.1:4000',
    '  imports      http://127.0.0.1:4000/imports.html',
    '  fleet        http://127.0.0.1:4000/fleet.html',
    '  dashboards   http://127.0.0.1:4000/dashboards',
    '',
    '  api          http://127.0.0.1:4001',
  ]);
});

test('a stack without pages has none to name', () => {
  const said = announcementOf({ ...ENDPOINTS, outputs: {} });
  expect(said).toMatch(/^ {2}api /);
  expect(said).not.toMatch(/imports|fleet/);
  expect(said).toMatch(/about +http:\/\/127\.0\.0\.1:4000\/about\n$/);
});
