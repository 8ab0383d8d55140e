import { limits } from '../../protocol/limits.js';
import type { ApiError } from '../http/api-error.js';
import type { Answer, Request } from '../http/request.js';
import type { Context } from './context.js';
import { isMissingPage, missingPageAnswer } from './dashboard/pages.js';
import { secured, withSecurityHeaders } from './dashboard/security-headers.js';
import { dashboardEndpointOf, dashboardTable } from './dashboard/table.js';
import type { Endpoint, Handle } from './endpoint.js';
import { apiErrors } from './errors.js';
import { recording } from './routes/build-subsets.js';
import { builds } from './routes/builds.js';
import { testCases } from './routes/cases.js';
import { clientFiles } from './routes/client.js';
import { completeness } from './routes/completeness.js';
import { guides } from './routes/guides.js';
import { insight } from './routes/insight.js';
import { descriptionOf, healthy, metricsAnswer, operating, ready } from './routes/operating.js';
import { metricsEndpoint } from './routes/project-metrics.js';
import { proofs } from './routes/proof.js';
import { queues } from './routes/queue.js';
import { regularMode } from './routes/split.js';
import { trends } from './routes/trends.js';
import { whatIf } from './routes/what-if.js';

/** The whole API, in the order of its description. */
const rows: readonly Endpoint[] = [
  ...[recording, ...regularMode, ...queues, testCases],
  ...[...builds, ...insight, ...whatIf, completeness, ...proofs],
  ...[...trends, metricsEndpoint],
  ...[descriptionOf(() => rows), ...guides, ...clientFiles, ...operating],
];

type Methods = { [method: string]: Handle };

const table: Readonly<Record<string, Methods>> = Object.fromEntries(rows.map(row => [row.path, { [row.method]: handlerOf(row) }]));

/** An endpoint is closed to public tokens unless its row says otherwise. */
function handlerOf({ handle, isOpenToPublic }: Endpoint): Handle {
  if (!isOpenToPublic) return handle;
  return (context, request, id) => {
    request.isOpenToPublic = true;
    return handle(context, request, id);
  };
}

/** The endpoints of the API, as written in the table. */
export const endpoints = Object.keys(table);

const routes = new Map(Object.entries({ ...table, ...dashboardTable }));

const BUILD = /^\/v1\/builds\/([^/]+)(\/[a-z_]+)?$/;

const GUIDE = /^\/docs\/[\w-]+\.md$/;

/** A file for CI nodes, asked for by an address that ends in /v1: the clients accept such an address of the server, too. */
const CLIENT_FILE = /^\/v1\/*(\/ballast[\w.-]+)$/;

const bodyLimits = new Map<string, number>([
  ...rows.map(({ path, bodyBytes }) => [path, bodyBytes] as const),
  ...Object.entries(dashboardTable).flatMap(([path, { POST }]) => (POST ? [[path, limits.dashboardBodyBytes] as const] : [])),
]);

/** The most bytes that a request may have as its body; 0: nobody reads them, so they take no memory. */
export function bodyLimitOf({ method, path }: Pick<Request, 'method' | 'path'>): number {
  return (method === 'POST' && bodyLimits.get(path)) || 0;
}

/** The endpoint of a path, as written in the tables; null: there is none. */
export function endpointOf(path: string): string | null {
  return find(path)?.endpoint ?? null;
}

function find(path: string): { endpoint: string; id: string; isOfDashboard: boolean } | null {
  if (Object.hasOwn(table, path)) return { endpoint: path, id: '', isOfDashboard: false };
  const clientFile = CLIENT_FILE.exec(path)?.[1] ?? '';
  if (Object.hasOwn(table, clientFile)) return { endpoint: clientFile, id: '', isOfDashboard: false };
  const [, id, name = ''] = BUILD.exec(path) ?? [];
  const endpoint = `/v1/builds/:id${name}`;
  if (id !== undefined && routes.has(endpoint)) return { endpoint, id, isOfDashboard: false };
  if (GUIDE.test(path)) return { endpoint: '/docs/:name.md', id: '', isOfDashboard: false };
  const page = dashboardEndpointOf(path);
  return page === null ? null : { endpoint: page, id: '', isOfDashboard: true };
}

/** Runs the handler of a request. Throws a 404, 405, 415 or 422 when there is none; a browser gets the 404 as a page. */
export function route(context: Context, request: Request): Answer | Promise<Answer> {
  const { path } = request;
  const method = request.method === 'HEAD' ? 'GET' : request.method;
  const found = find(path);
  if (!found || (found.isOfDashboard && !hasPage(context, request))) return notFound(context, request, notFoundError);
  const methods = routes.get(found.endpoint)!;
  const handle = Object.hasOwn(methods, method) ? methods[method] : undefined;
  const answer = () => {
    if (!handle) {
      const allowed = Object.keys(methods).flatMap(name => (name === 'GET' ? ['GET', 'HEAD'] : [name]));
      throw apiErrors.methodNotAllowed(request.method, path, allowed.join(', '));
    }
    // The dashboard checks the type of its own messages.
    if (method === 'POST' && !found.isOfDashboard && !maybeJson(request.contentType)) {
      throw apiErrors.unsupportedContentType(request.contentType);
    }
    return handle(context, request, found.id);
  };
  // Only pages of the dashboard name a project.
  return found.isOfDashboard || request.project !== '' ? secured(answer) : answer();
}

/** The answers of the admin port: for operators. It has data of projects only if it serves the dashboard. */
export function routeAdmin(context: Context, request: Request): Answer | Promise<Answer> {
  const { method, path, token, project } = request;
  const isRead = method === 'GET' || method === 'HEAD';
  // Clients with a token belong on the other port.
  const isOfPage = context.dashboard !== null && isRead && token === null && project !== '' && path.startsWith('/v1/');
  if (isOfPage || hasPage(context, request)) return route(context, request);
  if (!isRead) throw apiErrors.methodNotAllowed(method, path, 'GET, HEAD');
  switch (path) {
    case '/metrics':
      return metricsAnswer(context.metrics);
    case '/healthz':
      return healthy();
    case '/readyz':
      return ready(context);
  }
  return notFound(context, request, () => apiErrors.adminPathNotFound(path));
}

/** Reports whether a request is one of the dashboard, and the port serves it. */
function hasPage({ dashboard }: Context, { method, path }: Request): boolean {
  const isRequest = Object.hasOwn(dashboardTable, path) && path.startsWith('/dashboard/');
  return dashboard !== null && (isRequest || ((method === 'GET' || method === 'HEAD') && dashboardEndpointOf(path) !== null));
}

/** A browser gets the page that says so, if the port serves the dashboard. Throws the error for everyone else. */
function notFound({ dashboard }: Context, request: Request, errorOf: (request: Request) => ApiError): Promise<Answer> {
  if (!dashboard) throw errorOf(request);
  if (isMissingPage(request)) return secured(() => missingPageAnswer(dashboard.files, request));
  throw withSecurityHeaders(errorOf(request));
}

function notFoundError({ method, path }: Request): ApiError {
  if (/^\/v\d\/v\d\//.test(path)) return apiErrors.versionRepeated(path);
  if (path.startsWith('/v2/')) return apiErrors.v2PathNotSupported(path);
  return apiErrors.pathNotFound(method, path);
}

/** Reports whether a body of this type may be JSON. Many clients send no type or a wrong one, so only types that name another format are refused. */
function maybeJson(contentType: string): boolean {
  if (contentType === 'application/json') return true;
  const type = contentType.split(';')[0]!.trim().toLowerCase();
  return (
    type === '' ||
    /[/+]json$/.test(type) ||
    ['text/plain', 'application/x-www-form-urlencoded', 'application/octet-stream', '*/*'].includes(type)
  );
}
