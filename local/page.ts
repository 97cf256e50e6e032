import type { RequestListener } from 'node:http';
import { DIFFERENCES } from './differences.ts';
import type { CloudEndpoints } from './endpoints.ts';

/** A page that says where everything is. */
export function createPage(endpoints: CloudEndpoints): RequestListener {
  const urls = ['api', 's3', 'sqs', 'dynamodb'] as const;
  const rows = [
    ...urls.map((name) => [name, endpoints[name]]),
    ...Object.entries(endpoints.buckets).map(([name, bucket]) => [`bucket ${name}`, bucket]),
    ...Object.entries(endpoints.tables).map(([name, table]) => [`table ${name}`, table]),
    ...Object.entries(endpoints.queues).map(([name, url]) => [`queue ${name}`, url]),
    ...Object.entries(endpoints.functions).map(([name, fn]) => [`function ${name}`, fn]),
  ];
  const list = rows.map(([name, value]) => `<tr><th>${name}</th><td>${value}</td></tr>`).join('\n');
  const differences = DIFFERENCES.map((text) => `<li>${text}</li>`).join('\n');
  const html = `<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Glimpse, locally</title>
<style>body{font:16px/1.5 system-ui;margin:2rem auto;max-width:60rem;padding:0 1rem}th{text-align:left;padding-right:2rem}</style>
<h1>Glimpse runs on this machine</h1>
<table>${list}</table>
<h2>What differs from AWS</h2>
<ul>${differences}</ul>
</html>`;
  return (request, response) => {
    if (request.url === '/endpoints.json') {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(endpoints, undefined, 2));
    } else if (request.url === '/') {
      response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(html);
    } else {
      response.writeHead(404).end();
    }
  };
}
