import { version } from '../../../base/version.js';
import { Refusal } from '../../engine/refusal.js';
import type { Answer, Request } from '../../http/request.js';
import type { Context } from '../context.js';
import { apiErrors } from '../errors.js';
import { json } from '../json.js';
import { baseUrl } from '../links.js';
import { openApiDocument } from '../openapi/openapi.js';

/** GET /healthz: the process is up. */
export function healthy(): Answer {
  return json(200, { status: 'ok' });
}

/** GET /readyz: the store is open and a write reaches the disk soon. */
export async function ready({ readiness }: Context): Promise<Answer> {
  try {
    await readiness.assert();
  } catch (err) {
    throw apiErrors.notReady((err instanceof Refusal && err.cause) || err);
  }
  return json(200, { status: 'ready' });
}

/** GET /metrics: for Prometheus, unless the admin port serves it. */
export function metricsText({ metrics, hasAdminPort }: Context, { method, path }: Request): Promise<Answer> {
  if (hasAdminPort) throw apiErrors.pathNotFound(method, path);
  return metricsAnswer(metrics);
}

export async function metricsAnswer(metrics: Context['metrics']): Promise<Answer> {
  return { status: 200, ...(await metrics.text()) };
}

/** GET /openapi.json: the description of this API. It needs no token. */
export function describeApi(context: Context, request: Request): Answer {
  return json(200, openApiDocument({ version, url: baseUrl(context, request), headerPrefixes: context.headerPrefixes }));
}
