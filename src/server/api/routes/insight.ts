import { AGE_HEADER } from '../../../protocol/answers/build-head.js';
import type { Answer, Request } from '../../http/request.js';
import { findSubject } from '../../insight/subject.js';
import { askerOf } from '../authentication/authenticate.js';
import { compressed } from '../compressed.js';
import type { Context } from '../context.js';
import { getOfBuild, type Handle, type Query } from '../endpoint.js';
import { apiErrors } from '../errors.js';
import { decodeQuery } from '../json.js';
import { buildPageUrl } from '../links.js';
import { madeAt, tagText, versionOf } from '../live-tag.js';
import { headers, mergeResponses, response } from '../openapi/responses.js';
import { toCiRunQuery, toComparisonQuery, toTraceQuery, toWhyQuery } from '../read/queries.js';
import { checkNodeIndex, type RawParameters } from '../read/validation.js';
import { type InsightFilter, isSmallSubject } from '../reads.js';

type Job = 'minutes' | 'timeline' | 'trace' | 'forecast' | 'why';

/** A GET about a CI run, whose id is that of a build or, while nothing is recorded, of the CI run. */
function insightOf(job: Job, toQuery: (raw: RawParameters) => InsightFilter & { ci_run?: string } = toCiRunQuery) {
  return async (context: Context, request: Request, id: string): Promise<Answer> => {
    const { store, jobs, now } = context;
    const asker = await askerOf(context, request);
    const { ci_run, ...filter } = toQuery(decodeQuery(request.query));
    const subject = await findSubject(store, asker.project, id, ci_run);
    const errors = checkNodeIndex({ ...filter, node_total: subject.build.node_total });
    if (Object.keys(errors).length > 0) throw apiErrors.invalid(errors);
    const at = now();
    // Before the answer: what comes meanwhile is in the answer or makes another tag.
    const version = await versionOf(store, subject);
    const known = madeAt(request.ifNoneMatch, version, at);
    if (known !== null) return { status: 304, body: '', headers: { ETag: request.ifNoneMatch, [AGE_HEADER]: String((at - known) / 1000) } };
    const isHere = await isSmallSubject(store, subject);
    const { json, steadyFor } = await jobs.read(job, { subject, filter, now: at }, asker, { isHere });
    const headers = steadyFor < Infinity ? { ETag: tagText({ version, at, until: at + steadyFor }) } : {};
    return compressed({ status: 200, body: json, headers }, request);
  };
}

async function comparisonOfBuild(context: Context, request: Request, id: string): Promise<Answer> {
  const { store, jobs, summarizer, now } = context;
  const asker = await askerOf(context, request);
  const { ci_run, with: other } = toComparisonQuery(decodeQuery(request.query));
  const subject = await findSubject(store, asker.project, id, ci_run);
  const build = ci_run === undefined ? id : subject.ciRun!.id;
  const asked = {
    subject,
    other: other === undefined ? null : await findSubject(store, asker.project, other),
    page: await comparisonPage(context, request, asker.project, { build, other }),
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

interface CiRunDescription extends Omit<Query, 'tag' | 'query' | 'responses'> {
  query?: string;
  /** The names of the answers' types. */
  answers: readonly string[];
  /** Contents of the answer. */
  what: string;
  /** Pages ask for it again and again while the build runs. */
  isLive?: boolean;
}

const getOfCiRun = (path: string, handle: Handle, { query = 'CiRunQuery', answers, what, isLive, ...description }: CiRunDescription) =>
  getOfBuild(path, handle, {
    ...description,
    tag: 'Insight',
    query,
    responses: {
      ...mergeResponses,
      '200': { ...response(what, { schemas: answers }), ...(isLive && headers('ETag')) },
      ...(isLive && { '304': unchanged }),
    },
  });

const unchanged = {
  description: 'The build runs, and only the clock has changed the answer whose ETag is in `If-None-Match`.',
  ...headers('ETag', AGE_HEADER),
};

export const insight = [
  getOfCiRun('/v1/builds/:id/minutes', insightOf('minutes'), {
    operationId: 'divideMinutes',
    summary: 'Get where the wall time of a build went.',
    description: 'The id of a CI run serves too, also while nothing is recorded. The parts add up to the wall time exactly.',
    answers: ['MinutesAnswer'],
    what: 'The parts of the wall time, and the nodes, files and sentences that explain them.',
    isLive: true,
  }),
  getOfCiRun('/v1/builds/:id/comparison', comparisonOfBuild, {
    operationId: 'compareBuild',
    summary: 'Get what differs from what is usual on the branch, or from another build.',
    description: 'Usual are the medians of the last 20 complete builds with as many nodes. The causes add up to the difference.',
    answers: ['ComparisonAnswer'],
    what: 'The difference, its causes, and the parts and files that differ.',
    query: 'ComparisonQuery',
  }),
  getOfCiRun('/v1/builds/:id/timeline', insightOf('timeline'), {
    operationId: 'readTimeline',
    summary: 'Get what each node did, and when.',
    description: 'Files are columns, and batches refer to them by index.',
    answers: ['TimelineAnswer'],
    what: 'The lanes of the nodes.',
    isLive: true,
  }),
  getOfCiRun('/v1/builds/:id/forecast', insightOf('forecast'), {
    operationId: 'readForecast',
    summary: 'Get what was expected of a build when it was planned, and when it should end.',
    description: 'A 404 also means that no split and no queue of the build is known.',
    answers: ['ForecastAnswer'],
    what: 'The expected duration, the bound, and what the build took or when it should end.',
    isLive: true,
  }),
  getOfCiRun('/v1/builds/:id/trace', insightOf('trace', toTraceQuery), {
    operationId: 'traceBuild',
    summary: 'Get a build as a trace for Perfetto or DevTools, or for a collector of OpenTelemetry.',
    description: 'A thread for each node. The files of a batch follow one another, because only their durations are known.',
    answers: ['TraceAnswer', 'OtlpTraceAnswer'],
    what: 'Chrome trace events, or a request to a collector.',
    query: 'TraceQuery',
  }),
  getOfCiRun('/v1/builds/:id/why', insightOf('why', toWhyQuery), {
    operationId: 'explainBuild',
    summary: 'Explain why each node got its files.',
    description: 'Each batch, or part of a split, with what was known when it was handed out.',
    answers: ['WhyAnswer'],
    what: 'The hand-outs in the order of time.',
    query: 'WhyQuery',
    isLive: true,
  }),
];
