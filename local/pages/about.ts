import { DIFFERENCES } from '../differences.ts';
import type { CloudEndpoints } from '../endpoints.ts';

/** A page that says where everything is. */
export function aboutPage(endpoints: CloudEndpoints): string {
  const urls = ['web', 'api', 's3', 'sqs', 'dynamodb', 'provider', 'ssm', 'issuer'] as const;
  const rows = [
    ...urls.map((name) => [name, endpoints[name]]),
    ...Object.entries(endpoints.buckets).map(([name, bucket]) => [`bucket ${name}`, bucket]),
    ...Object.entries(endpoints.tables).map(([name, table]) => [`table ${name}`, table]),
    ...Object.entries(endpoints.queues).map(([name, url]) => [`queue ${name}`, url]),
    ...Object.entries(endpoints.functions).map(([name, fn]) => [`function ${name}`, fn]),
  ];
  const list = rows
    .map(([name, value]) => `<tr><th scope="row">${name}</th><td>${value}</td></tr>`)
    .join('\n');
  const differences = DIFFERENCES.map((text) => `<li>${escapeText(text)}</li>`).join('\n');
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Glimpse, locally</title>
<link rel="icon" href="/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="/about.css">
<main>
<h1>Glimpse runs on this machine</h1>
<p><a href="/">The gallery</a> · <a href="/endpoints.json">all of this as JSON</a></p>
<table>
${list}
</table>
<h2>What differs from AWS</h2>
<ul>
${differences}
</ul>
</main>
</html>
`;
}

function escapeText(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}
