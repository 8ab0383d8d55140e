import type { Answer, Request } from '../http/request.js';
import type { Context } from './context.js';
import { secured, withSecurityHeaders } from './dashboard/security-headers.js';
import { dashboardEndpointOf, routeDashboard } from './dashboard/table.js';
import { apiErrors } from './errors.js';
import { recordBuildSubset } from './routes/build-subsets.js';
import { buildSummaries } from './routes/build-summaries.js';
import { buildById, lastDistribution, pageOfBuilds } from './routes/builds.js';
import { completenessOfBuild } from './routes/completeness.js';
import { healthy, metricsText, ready } from './routes/health.js';
import { forecastOfBuild, minutesOfBuild, timelineOfBuild, traceOfBuild, whyOfBuild } from './routes/insight.js';
import { describeApi } from './routes/openapi.js';
import { queueForNode, testQueueForNode } from './routes/queue.js';
import { splitForNode } from './routes/split.js';
import { failedOnBranch } from './routes/test-paths.js';
import { historyOfFile, trendOfBuilds, trendOfFiles, trendOfNodes } from './routes/trends.js';
import { planAhead, whatIfOfBuild } from './routes/what-if.js';

type Handle = (context: Context, request: Request, id: string) => Answer | Promise<Answer>;

/** The whole API. `:id` matches one segment of the path. */
const table: Readonly<Record<string, { [method: string]: Handle }>> = {
  '/v1/build_subsets': { POST: recordBuildSubset },
  '/v1/build_distributions/subset': { POST: splitForNode },
  '/v1/build_distributions/last': { GET: lastDistribution },
  '/v1/queues/queue': { POST: queueForNode },
  '/v2/queues/queue': { POST: testQueueForNode },
  '/v2/test_paths': { GET: failedOnBranch },
  '/v1/builds': { GET: pageOfBuilds },
  '/v1/builds/completeness': { GET: completenessOfBuild },
  '/v1/builds/:id': { GET: buildById },
  '/v1/builds/:id/why': { GET: whyOfBuild },
  '/v1/build_summaries': { GET: buildSummaries },
  '/v1/trends/builds': { GET: trendOfBuilds },
  '/v1/trends/files': { GET: trendOfFiles },
  '/v1/trends/files/history': { GET: historyOfFile },
  '/v1/trends/nodes': { GET: trendOfNodes },
  '/v1/builds/:id/what_if': { GET: whatIfOfBuild },
  '/v1/plan': { POST: planAhead },
  '/v1/builds/:id/minutes': { GET: minutesOfBuild },
  '/v1/builds/:id/timeline': { GET: timelineOfBuild },
  '/v1/builds/:id/forecast': { GET: forecastOfBuild },
  '/v1/builds/:id/trace': { GET: traceOfBuild },
  '/v1/openapi.json': { GET: describeApi },
  '/metrics': { GET: metricsText },
  '/healthz': { GET: healthy },
  '/readyz': { GET: ready },
};
/** The endpoints of the API, as written in the table. */
export const endpoints = Object.keys(table);

const routes = new Map(Object.entries(table));

const BUILD = /^\/v1\/builds\/([^/]+)(\/[a-z_]+)?$/;

/** The endpoint of a path, as written in the table; null: there is none. */
export function endpointOf(path: string): string | null {
  return find(path)?.endpoint ?? dashboardEndpointOf(path);
}

function find(path: string): { endpoint: string; id: string } | null {
  if (routes.has(path)) return { endpoint: path, id: '' };
  const [, id, name = ''] = BUILD.exec(path) ?? [];
  const endpoint = `/v1/builds/:id${name}`;
  return id !== undefined && routes.has(endpoint) ? { endpoint, id } : null;
}

/** Runs the handler of a request. Throws a 404, 405, 415 or 422 when there is none. */
export function route(context: Context, request: Request): Answer | Promise<Answer> {
  const { path } = request;
  const found = find(path);
  const methods = found && routes.get(found.endpoint);
  if (!methods) {
    const answer = routeDashboard(context, request);
    if (answer) return answer;
    if (/^\/v\d\/v\d\//.test(path)) throw apiErrors.versionRepeated(path);
    if (path.startsWith('/v2/')) throw apiErrors.v2PathNotSupported(path);
    const error = apiErrors.pathNotFound(request.method, path);
    // Who mistypes the address of a page is shown it by a browser.
    throw context.dashboard ? withSecurityHeaders(error) : error;
  }
  const method = request.method === 'HEAD' ? 'GET' : request.method;
  const handle = Object.hasOwn(methods, method) ? methods[method] : undefined;
  if (!handle) {
    const allowed = Object.keys(methods).flatMap(name => (name === 'GET' ? ['GET', 'HEAD'] : [name]));
    throw apiErrors.methodNotAllowed(request.method, path, allowed.join(', '));
  }
  if (method === 'POST' && !maybeJson(request.contentType)) throw apiErrors.unsupportedContentType(request.contentType);
  // Only pages of the dashboard name a project.
  return request.project === '' ? handle(context, request, found.id) : secured(() => handle(context, request, found.id));
}

/** Whether a body of this type may be JSON. Many clients send no type or a wrong one, so only types that name another format are refused. */
function maybeJson(contentType: string): boolean {
  if (contentType === 'application/json') return true;
  const type = contentType.split(';')[0]!.trim().toLowerCase();
  return (
    type === '' ||
    /[/+]json$/.test(type) ||
    ['text/plain', 'application/x-www-form-urlencoded', 'application/octet-stream', '*/*'].includes(type)
  );
}
