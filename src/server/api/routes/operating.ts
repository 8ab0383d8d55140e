import { version } from '../../../base/version.js';
import { Refusal } from '../../engine/refusal.js';
import type { Answer, Request } from '../../http/request.js';
import type { Context } from '../context.js';
import { type Endpoint, publicGet } from '../endpoint.js';
import { apiErrors } from '../errors.js';
import { json } from '../json.js';
import { baseUrl } from '../links.js';
import { openApiDocument } from '../openapi/openapi.js';
import { headers, refusal, response, textResponse } from '../openapi/responses.js';

export function healthy(): Answer {
  return json(200, { status: 'ok' });
}

export async function ready({ readiness }: Context): Promise<Answer> {
  try {
    await readiness.assert();
  } catch (err) {
    throw apiErrors.notReady((err instanceof Refusal && err.cause) || err);
  }
  return json(200, { status: 'ready' });
}

function metricsText({ metrics, hasAdminPort }: Context, { method, path }: Request): Promise<Answer> {
  if (hasAdminPort) throw apiErrors.pathNotFound(method, path);
  return metricsAnswer(metrics);
}

export async function metricsAnswer(metrics: Context['metrics']): Promise<Answer> {
  return { status: 200, ...(await metrics.text()) };
}

export const operating = [
  publicGet('/healthz', healthy, {
    operationId: 'isHealthy',
    summary: 'Check that the process runs.',
    description: 'Does not check the store.',
    responses: { '200': response('The process runs.', { schemas: ['Health'] }) },
  }),
  publicGet('/readyz', ready, {
    operationId: 'isReady',
    summary: 'Check that the store can be written.',
    description: 'Makes a test write to the disk.',
    responses: {
      '200': response('The store can be written.', { schemas: ['Health'] }),
      '503': refusal('The store cannot be written.', 'Retry-After'),
    },
  }),
  publicGet('/metrics', metricsText, {
    operationId: 'readMetrics',
    summary: 'Read metrics for Prometheus.',
    description: 'If there is an admin port, only that port has them.',
    responses: {
      '200': textResponse('The text format of Prometheus.', 'text/plain'),
      '404': refusal('Only the admin port has metrics.'),
    },
  }),
];

/** The endpoint that describes all of them, itself included. It needs no token. */
export const descriptionOf = (endpoints: () => readonly Endpoint[]): Endpoint =>
  publicGet(
    '/v1/openapi.json',
    (context, request) =>
      json(200, openApiDocument(endpoints(), { version, url: baseUrl(context, request), headerPrefixes: context.headerPrefixes })),
    {
      operationId: 'describeApi',
      summary: 'Get this document.',
      description: 'It is generated from the types that validate requests.',
      responses: { '200': { description: 'OpenAPI 3.1.', ...headers(), content: { 'application/json': { schema: { type: 'object' } } } } },
    },
  );
