import type { CloudEndpoints } from './endpoints.ts';

type Announced = Pick<
  CloudEndpoints,
  'web' | 'api' | 's3' | 'sqs' | 'dynamodb' | 'provider' | 'ssm' | 'issuer' | 'outputs'
>;

/** What a start says of where everything is: pages for people first, then addresses for programs. */
export function announcementOf(endpoints: Announced): string {
  const { web, api, s3, sqs, dynamodb, provider, ssm, issuer, outputs } = endpoints;
  const pages =
    outputs.PagesUrl === undefined
      ? {}
      : {
          galleries: web,
          imports: `${web}/imports.html`,
          fleet: `${web}/fleet.html`,
          dashboards: `${web}/dashboards`,
        };
  const others = { api, s3, sqs, dynamodb, provider, ssm, issuer, about: `${web}/about` };
  const lines = (urls: Readonly<Record<string, string>>) =>
    Object.entries(urls).map(([name, url]) => `  ${name.padEnd(12)} ${url}\n`);
  return [...lines(pages), ...(Object.keys(pages).length > 0 ? ['\n'] : []), ...lines(others)].join(
    '',
  );
}
