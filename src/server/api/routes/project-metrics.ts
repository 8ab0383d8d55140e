import { Gauge, Registry } from 'prom-client';
import type { Answer, Request } from '../../http/request.js';
import { projectMetrics } from '../../insight/trends/project-metrics.js';
import { projectOf } from '../authentication/authenticate.js';
import type { Context } from '../context.js';
import { plainGet } from '../endpoint.js';
import { apiErrors } from '../errors.js';
import { textResponse } from '../openapi/responses.js';

async function metricsOfProject(context: Context, request: Request): Promise<Answer> {
  const { store, summarizer, now } = context;
  const token = request.token ?? /^Bearer +(\S+)$/i.exec(request.authorization)?.[1] ?? null;
  const project = await store.access.project(await projectOf(context, { ...request, token }));
  // It was deleted just now.
  if (!project) throw apiErrors.tokenInvalid();
  const { answer, outdated } = await projectMetrics(store, project, now());
  for (const build of outdated) summarizer.outdated(build);
  const registry = new Registry();
  registry.setContentType(Registry.PROMETHEUS_CONTENT_TYPE);
  for (const { name, help, values } of answer) {
    // A metric without a value would be 0.
    if (values.length === 0) continue;
    const gauge = new Gauge({ name, help, labelNames: Object.keys(values[0]!.labels), registers: [registry] });
    for (const { labels, value } of values) gauge.set(labels, value);
  }
  return { status: 200, contentType: registry.contentType, body: await registry.metrics() };
}

export const metricsEndpoint = plainGet('/v1/metrics', metricsOfProject, {
  operationId: 'readProjectMetrics',
  tag: 'Trends',
  summary: 'Read metrics of the project for Prometheus.',
  description:
    'Builds, wall time by cause and node time of today (UTC), for the default branch and for all others together, and the newest build of the default branch. All are gauges. The token may also come as `Authorization: Bearer`.',
  responses: { '200': textResponse('The text format of Prometheus.', 'text/plain') },
  security: [{ testSuiteToken: [] }, { bearer: [] }],
});
