import { callerOf } from '../../shared/access/caller.ts';
import type { HttpAnswer, HttpRequest, Routes } from '../../shared/runtime/http-stack.ts';
import { parse } from '../../shared/runtime/parse-request.ts';
import { cancelImport } from './cancel-import.ts';
import { createImport } from './create-import.ts';
import { estimateCosts } from './estimate-costs.ts';
import { exportImport } from './export-import.ts';
import { listImports } from './list-imports.ts';
import { listRows } from './list-rows.ts';
import { pauseImport } from './pause-import.ts';
import * as request from './request.ts';
import { resumeImport } from './resume-import.ts';
import { retryFailed } from './retry-import.ts';
import type { Service, SharedService } from './service.ts';
import { showFleet } from './show-fleet.ts';
import { showImport } from './show-import.ts';

type Verb = (service: Service, asked: HttpRequest) => Promise<HttpAnswer>;

/** @param service is asked for at the first request: without one, no environment is needed. */
export function routesOf(shared: () => SharedService): Routes {
  const serviceFor = ({ identity }: HttpRequest): Service => {
    const { authentication, ...service } = shared();
    return { ...service, caller: callerOf(authentication, identity) };
  };
  return Object.fromEntries(
    Object.entries(VERBS).map(([route, verb]) => [
      route,
      async (asked: HttpRequest) => await verb(serviceFor(asked), asked),
    ]),
  );
}

// Done for each request.

const VERBS: Readonly<Record<string, Verb>> = {
  'POST /imports': async (service, { body }) => {
    const given = parse(request.createBody, 'body', body);
    return { status: 201, body: await createImport(service, given) };
  },

  'GET /imports': async (service, { query }) => {
    const asked = parse(request.listQuery, 'query', query);
    return { status: 200, body: await listImports(service, asked) };
  },

  'GET /imports/{id}': async (service, { path, query, headers }) => {
    parse(request.nothing, 'query', query);
    const importId = request.importIdOf(path);
    const shown = await showImport(service, importId, headers['if-none-match']);
    // A browser keeps it, asks each time whether it is still so, and tells the page 200 either way.
    const kept = { etag: shown.etag, 'cache-control': 'private, no-cache' };
    if (shown.kind === 'kept') return { status: 304, headers: kept };
    return { status: 200, headers: kept, body: shown.view };
  },

  'GET /imports/{id}/rows': async (service, { path, query }) => {
    const asked = parse(request.rowsQuery, 'query', query);
    return { status: 200, body: await listRows(service, request.importIdOf(path), asked) };
  },

  'GET /fleet': async (service, { query }) => {
    parse(request.nothing, 'query', query);
    return {
      status: 200,
      headers: { 'cache-control': 'no-store' },
      body: await showFleet(service),
    };
  },

  'POST /imports/{id}/pause': async (service, { path, body }) => {
    parse(request.nothing, 'body', body ?? {});
    return { status: 200, body: await pauseImport(service, request.importIdOf(path)) };
  },

  'POST /imports/{id}/resume': async (service, { path, body }) => {
    const wishes = parse(request.resumeBody, 'body', body ?? {});
    return { status: 200, body: await resumeImport(service, request.importIdOf(path), wishes) };
  },

  'POST /imports/{id}/cancel': async (service, { path, body }) => {
    parse(request.nothing, 'body', body ?? {});
    return { status: 200, body: await cancelImport(service, request.importIdOf(path)) };
  },

  'POST /imports/{id}/retry': async (service, { path, body }) => {
    parse(request.nothing, 'body', body ?? {});
    return { status: 200, body: await retryFailed(service, request.importIdOf(path)) };
  },

  'POST /imports/{id}/estimate': async (service, { path, body }) => {
    const asked = parse(request.estimateBody, 'body', body ?? {});
    return { status: 200, body: await estimateCosts(service, request.importIdOf(path), asked) };
  },

  'GET /imports/{id}/export': async (service, { path, query }) => {
    const { only, as } = parse(request.exportQuery, 'query', query);
    const exported = await exportImport(service, request.importIdOf(path), only === 'failed');
    const headers = { 'cache-control': 'no-store' };
    if (exported.kind === 'ready' && as === 'json') {
      return { status: 200, headers, body: { state: exported.kind, url: exported.url } };
    }
    if (exported.kind === 'ready') {
      return { status: 302, headers: { ...headers, location: exported.url } };
    }
    const { retryAfterMs } = exported;
    return {
      status: 202,
      headers: { ...headers, 'retry-after': String(Math.ceil(retryAfterMs / 1000)) },
      body: { state: exported.kind, retryAfterMs },
    };
  },
};
