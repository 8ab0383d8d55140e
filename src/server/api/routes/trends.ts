import { DAY_MILLISECONDS } from '../../../base/time.js';
import type { BuildLines } from '../../../protocol/answers/trends.js';
import { limits } from '../../../protocol/limits.js';
import { fileOfPiece } from '../../../protocol/piece-path.js';
import { settingsOf } from '../../engine/access.js';
import type { Answer, Request } from '../../http/request.js';
import type { LineKey, LineOrder } from '../../insight/trends/build-lines.js';
import { buildTrend } from '../../insight/trends/build-trend.js';
import { askerOf, projectOf } from '../authentication/authenticate.js';
import type { Context } from '../context.js';
import { get } from '../endpoint.js';
import { apiErrors } from '../errors.js';
import type { Asker } from '../job-runner.js';
import { decodeQuery, json } from '../json.js';
import { response } from '../openapi/responses.js';
import {
  dayOfDate,
  toBuildLinesQuery,
  toBuildTrendQuery,
  toFileHistoryQuery,
  toFileTrendsQuery,
  toFlakyQuery,
  toNodeTrendsQuery,
} from '../read/queries.js';
import type { TrendJson } from '../reads.js';

/** Eight weeks. */
const DEFAULT_DAYS = 56;
const DEFAULT_FILES = 1000;
const DEFAULT_FLAKY_DAYS = 30;

async function trendOfBuilds(context: Context, request: Request): Promise<Answer> {
  const project = await projectOf(context, request);
  const { branch = null, by = 'day', ...dates } = toBuildTrendQuery(decodeQuery(request.query));
  const to = dates.to === undefined ? Math.floor(context.now() / DAY_MILLISECONDS) : dayOfDate(dates.to);
  if (dates.from !== undefined && dates.days !== undefined) throw apiErrors.invalid({ days: ['must not come with from'] });
  const from = dates.from === undefined ? to - (dates.days ?? DEFAULT_DAYS) + 1 : dayOfDate(dates.from);
  if (from > to) throw apiErrors.invalid({ from: ['must not be after to'] });
  if (to - from >= limits.trendDays) throw apiErrors.invalid({ from: [`must be less than ${limits.trendDays} days before to`] });
  const settings = await settingsOf(context.store.access, project);
  return json(200, await buildTrend(context.store.summaries, project, branch, { from, to }, by, settings));
}

async function trendOfFiles(context: Context, request: Request): Promise<Answer> {
  const asker = await askerOf(context, request);
  const { branch, path = null, sort = 'estimate', offset = 0, limit = DEFAULT_FILES } = toFileTrendsQuery(decodeQuery(request.query));
  const subject = { ...(await branchOf(context, asker, branch)), path, order: sort, offset, limit };
  return trend(context, await context.jobs.read('fileTrends', subject, asker));
}

async function historyOfFile(context: Context, request: Request): Promise<Answer> {
  const asker = await askerOf(context, request);
  const { branch, path } = toFileHistoryQuery(decodeQuery(request.query));
  const subject = { ...(await branchOf(context, asker, branch)), path: fileOfPiece(path), now: context.now() };
  return trend(context, await context.jobs.read('fileHistory', subject, asker));
}

async function trendOfNodes(context: Context, request: Request): Promise<Answer> {
  const asker = await askerOf(context, request);
  const { branch = null, node_total = null } = toNodeTrendsQuery(decodeQuery(request.query));
  const subject = { project: asker.project, branch, node_total, builds: limits.trendBuilds };
  return trend(context, await context.jobs.read('nodeTrends', subject, asker));
}

async function flaky(context: Context, request: Request): Promise<Answer> {
  const asker = await askerOf(context, request);
  const { limit = limits.flakyFiles, days = DEFAULT_FLAKY_DAYS } = toFlakyQuery(decodeQuery(request.query));
  return trend(context, await context.jobs.read('flakyFiles', { project: asker.project, limit, days, now: context.now() }, asker));
}

function trend({ summarizer }: Context, { json: body, outdated }: TrendJson): Answer {
  for (const build of outdated) summarizer.outdated(build);
  return { status: 200, body };
}

/** A branch of the asker's project, or the default one; an empty name, which no build has, before the first build. */
async function branchOf({ store }: Context, { project }: Asker, branch?: string): Promise<{ project: number; branch: string }> {
  return { project, branch: branch ?? (await store.access.project(project))?.default_branch ?? '' };
}

const DEFAULT_LIMIT = 50;

async function buildSummaries(context: Context, request: Request): Promise<Answer> {
  const { jobs, now } = context;
  const asker = await askerOf(context, request);
  const { project } = asker;
  const query = toBuildLinesQuery(decodeQuery(request.query));
  const { cursor = null, limit = DEFAULT_LIMIT, failed = false, from, to, sort, ...filter } = query;
  if (sort !== undefined && cursor !== null)
    throw apiErrors.invalid({ cursor: ['cannot be combined with sort: a sorted list has one page'] });
  const created = {
    from: from === undefined ? -Infinity : dayOfDate(from) * DAY_MILLISECONDS,
    before: to === undefined ? Infinity : (dayOfDate(to) + 1) * DAY_MILLISECONDS,
  };
  if (created.from >= created.before) throw apiErrors.invalid({ from: ['must not be after to'] });
  const order: LineOrder | null = sort === undefined ? null : { key: sort.replace('-', '') as LineKey, isDescending: sort.startsWith('-') };
  const asked = { project, request: { filter, failed, created, cursor, limit }, order, now: now() };
  const { answer, outdated } = await jobs.read('buildLines', asked, asker, { isHere: order === null && !failed });
  const isUnknown = cursor === null && answer.total + answer.builds.length === 0 && Object.keys(filter).length > 0;
  const similar = isUnknown ? await jobs.read('similarNames', { project, filter, now: now() }, asker) : null;
  return trend(context, { json: JSON.stringify({ ...answer, similar } satisfies BuildLines), outdated });
}

export const trends = [
  get('/v1/build_summaries', buildSummaries, {
    operationId: 'listBuildSummaries',
    tag: 'Trends',
    summary: 'List builds with a summary of each, newest first.',
    description:
      'A summary is written some seconds after a run of the build was recorded. CI runs that have begun and recorded nothing come first, on the first page only; those that ended so have no `build_id`, and `limit` and `total` do not count them. With `failed=true` a request searches 500 builds; `searched_to` and `next` tell how to go on. If no build has the `branch` or the `commit_hash`, `similar` has branches that contain it, or commits that begin with it.',
    query: 'BuildLinesQuery',
    responses: { '200': response('A part of the list.', { schemas: ['BuildLines'] }) },
  }),
  get('/v1/trends/builds', trendOfBuilds, {
    operationId: 'getBuildTrend',
    tag: 'Trends',
    summary: 'Get wall time, idle time, savings and cost of a branch by day or week.',
    description:
      'A build counts on the day on which its newest CI run began. Days without builds are left out. At most 400 days. `proved_runs` counts CI runs on the day on which they asked for a proof.',
    query: 'BuildTrendQuery',
    responses: { '200': response('The days, oldest first.', { schemas: ['BuildTrend'] }) },
  }),
  get('/v1/trends/files', trendOfFiles, {
    operationId: 'listFileTrends',
    tag: 'Trends',
    summary: 'List the files of a branch over its last 100 builds.',
    description:
      'A suite so large that 100 builds have more than 6,000,000 recorded times is read over fewer builds. `growth` and `spread` sort by seconds, not by factors, so that files that cost most come first.',
    query: 'FileTrendsQuery',
    responses: { '200': response('A part of the files.', { schemas: ['FileTrends'] }) },
  }),
  get('/v1/trends/files/history', historyOfFile, {
    operationId: 'getFileHistory',
    tag: 'Trends',
    summary: 'Get the times of a file in the last 100 builds of a branch.',
    description:
      'With the estimate before each build and the builds in which its duration changed. No points: the branch has not recorded it.',
    query: 'FileHistoryQuery',
    responses: { '200': response('The history, oldest build first.', { schemas: ['FileHistory'] }) },
  }),
  get('/v1/trends/nodes', trendOfNodes, {
    operationId: 'getNodeTrends',
    tag: 'Trends',
    summary: 'Find nodes that are slow again and again.',
    description: 'Over the last 100 builds with the same number of nodes.',
    query: 'NodeTrendsQuery',
    responses: { '200': response('The nodes by index.', { schemas: ['NodeTrends'] }) },
  }),
  get('/v1/flaky', flaky, {
    operationId: 'listFlakyFiles',
    tag: 'Trends',
    summary: 'List the flaky files of the project, by what they cost.',
    description:
      'Files that failed and passed at the same commit, and those that fail at the last two commits of the default branch. Read of the newest 5,000 builds in which something failed. It is known some seconds after a run of a build was recorded.',
    query: 'FlakyQuery',
    responses: { '200': response('The files, what cost most first, and the newest 50 outages.', { schemas: ['FlakyAnswer'] }) },
  }),
];
