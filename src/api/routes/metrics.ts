import type { Answer, Request } from '../../http/request.js';
import type { Context } from '../context.js';
import { apiErrors } from '../errors.js';

/** GET /metrics: for Prometheus, unless the admin port serves it. */
export function metricsText({ metrics, hasAdminPort }: Context, { method, path }: Request): Promise<Answer> {
  if (hasAdminPort) throw apiErrors.pathNotFound(method, path);
  return metricsAnswer(metrics);
}

export async function metricsAnswer(metrics: Context['metrics']): Promise<Answer> {
  return { status: 200, ...(await metrics.text()) };
}
