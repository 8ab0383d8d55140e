import type { Answer, Request } from '../../http/request.js';
import { findSubject } from '../../insight/subject.js';
import { askerOf } from '../authenticate.js';
import type { Context } from '../context.js';
import { apiErrors } from '../errors.js';
import { decodeQuery } from '../json.js';
import { buildPageUrl } from '../links.js';
import { toCiRunQuery, toComparisonQuery, toTraceQuery, toWhyQuery } from '../read/queries.js';
import { checkNodeIndex, type RawParameters } from '../read/validation.js';
import { type InsightFilter, isSmallSubject } from '../reads.js';

type Job = 'minutes' | 'timeline' | 'trace' | 'forecast' | 'why';

/** A GET about a CI run, whose id is that of a build or, while nothing is recorded, of the CI run. */
function insight(job: Job, toQuery: (raw: RawParameters) => InsightFilter & { ci_run?: string } = toCiRunQuery) {
  return async (context: Context, request: Request, id: string): Promise<Answer> => {
    const { store, jobs, now } = context;
    const asker = await askerOf(context, request);
    const { ci_run, ...filter } = toQuery(decodeQuery(request.query));
    const subject = await findSubject(store, asker.project, id, ci_run);
    const errors = checkNodeIndex({ ...filter, node_total: subject.build.node_total });
    if (Object.keys(errors).length > 0) throw apiErrors.invalid(errors);
    const isHere = await isSmallSubject(store, subject);
    return { status: 200, body: (await jobs.read(job, { subject, filter, now: now() }, asker, { isHere })).json };
  };
}

/** GET /builds/:id/minutes: where the wall time went. */
export const minutesOfBuild = insight('minutes');
/** GET /builds/:id/comparison: what differs from what is usual, or from another build. */
export async function comparisonOfBuild(context: Context, request: Request, id: string): Promise<Answer> {
  const { store, jobs, summarizer, now } = context;
  const asker = await askerOf(context, request);
  const { ci_run, with: other } = toComparisonQuery(decodeQuery(request.query));
  const asked = {
    subject: await findSubject(store, asker.project, id, ci_run),
    other: other === undefined ? null : await findSubject(store, asker.project, other),
    page: await comparisonPage(context, request, asker.project, { build: ci_run ?? id, other }),
    now: now(),
  };
  const { json, outdated } = await jobs.read('comparison', asked, asker);
  for (const build of outdated) summarizer.outdated(build);
  return { status: 200, body: json };
}

async function comparisonPage(
  context: Context,
  request: Request,
  project: number,
  { build, other }: { build: string; other: string | undefined },
): Promise<string | null> {
  const name = context.dashboard && (await context.store.access.project(project))?.name;
  return name ? buildPageUrl(context, request, name, build, { tab: 'compare', ...(other !== undefined && { with: other }) }) : null;
}

/** GET /builds/:id/timeline: what each node did, and when. */
export const timelineOfBuild = insight('timeline');
/** GET /builds/:id/trace: the same as Chrome trace events, or for a collector of OpenTelemetry. */
export const traceOfBuild = insight('trace', toTraceQuery);
/** GET /builds/:id/forecast: what was expected when it was planned. */
export const forecastOfBuild = insight('forecast');
/** GET /builds/:id/why: why each node got its files, as it was known then. */
export const whyOfBuild = insight('why', toWhyQuery);
