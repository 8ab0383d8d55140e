import type { Answer, Request } from '../../http/request.js';
import type { Context } from '../context.js';
import { routeDashboard } from '../dashboard/table.js';
import { apiErrors } from '../errors.js';
import { route } from '../table.js';
import { healthy, metricsAnswer, ready } from './health.js';

/** The answers of the admin port: for operators. It has data of projects only if it serves the dashboard. */
export function routeAdmin(context: Context, request: Request): Answer | Promise<Answer> {
  const { method, path } = request;
  const answer = routeDashboard(context, request);
  if (answer) return answer;
  if (context.dashboard && isOfPage(request)) return route(context, request);
  if (method !== 'GET' && method !== 'HEAD') throw apiErrors.methodNotAllowed(method, path, 'GET, HEAD');
  switch (path) {
    case '/metrics':
      return metricsAnswer(context.metrics);
    case '/healthz':
      return healthy();
    case '/readyz':
      return ready(context);
  }
  throw apiErrors.adminPathNotFound(path);
}

/** Whether a page of the dashboard sends the request to the API. Clients with a token belong on the other port. */
function isOfPage({ method, path, token, project }: Request): boolean {
  return token === null && project !== '' && path.startsWith('/v1/') && (method === 'GET' || method === 'HEAD');
}
