import { whenKnown } from '../../../base/soon.js';
import { limits } from '../../../protocol/limits.js';
import type { BuildsPage } from '../../../protocol/messages/build.js';
import { buildWithId } from '../../engine/builds.js';
import type { Build } from '../../engine/ports/builds.js';
import { refusals } from '../../engine/refusal.js';
import type { Answer, Request } from '../../http/request.js';
import { askerOf } from '../authentication/authenticate.js';
import { BuildPieces, type PieceSubject } from '../build-pieces.js';
import type { Context } from '../context.js';
import { buildId, get, plainGet } from '../endpoint.js';
import type { Asker } from '../job-runner.js';
import { aroundLast, decodeQuery } from '../json.js';
import { buildsUrl } from '../links.js';
import { refusal, response } from '../openapi/responses.js';
import { toBuildsQuery } from '../read/build.js';
import { isSmallBuild } from '../reads.js';

/** Memory that is counted for an answer in pieces. */
const PIECE_BYTES = 1_048_576;
/** A page farther than this from both ends is read in a worker thread: to skip 10,000 builds takes as long as to read and encode a page. */
const BUILDS_SKIPPED_HERE = 10_000;

async function pageOfBuilds(context: Context, request: Request): Promise<Answer> {
  const asker = await askerOf(context, request);
  const { project } = asker;
  const { page, ...filter } = toBuildsQuery(decodeQuery(request.query));
  const { store, jobs } = context;
  const limit = limits.buildsPerPage;
  const offset = (page - 1) * limit;
  const read = (isHere: boolean) => jobs.read('pageOfBuilds', { project, filter, part: { offset, limit } }, asker, { isHere });
  const counting = store.builds.count(project, filter);
  const [total, { json: body }] = await Promise.all([
    counting,
    offset <= BUILDS_SKIPPED_HERE ? read(true) : whenKnown(counting, all => read(all - offset <= BUILDS_SKIPPED_HERE)),
  ]);
  const total_pages = Math.ceil(total / limit);
  const last = Math.max(1, total_pages);
  const link = (to: number | null) => (to === null ? null : buildsUrl(context, request, filter, to));
  const prev_page = page > 1 ? Math.min(page - 1, last) : null;
  const next_page = page < last ? page + 1 : null;
  const answer: Omit<BuildsPage, 'data'> = {
    meta: {
      records_per_page: limit,
      total_pages,
      prev_page,
      current_page: page,
      next_page,
      is_first_page: page === 1,
      is_last_page: page === last,
      is_page_out_of_range: page > last,
    },
    links: { first: link(1), prev: link(prev_page), self: link(page), next: link(next_page), last: link(last) },
  };
  return { status: 200, body, around: aroundLast('data', answer) };
}

async function buildById(context: Context, request: Request, id: string): Promise<Answer> {
  const { store } = context;
  const asker = await askerOf(context, request);
  const build = await buildWithId(store.builds, asker.project, id);
  if (!build) throw refusals.buildNotFound();
  return { status: 200, ...(await readBuild(context, build, asker)) };
}

/** A build with its CI runs and all its recorded runs, newest first. */
export async function readBuild(
  { store, jobs }: Pick<Context, 'store' | 'jobs'>,
  build: Build,
  asker: Asker,
): Promise<Omit<Answer, 'status'>> {
  const isHere = isSmallBuild(build);
  const ciRuns = await store.ciRuns.ofBuild(build.project, build);
  const outline = await jobs.read('buildOutline', build, asker, { isHere });
  const read = (subject: PieceSubject, isFirst: boolean) => jobs.read('buildPiece', subject, asker, { isHere, isUnderWay: !isFirst });
  const pieces = new BuildPieces(build, ciRuns, outline, read);
  const body = await pieces.first();
  return pieces.isDone ? { body } : { body, rest: pieces.rest(), memoryBytes: PIECE_BYTES + pieces.bytes };
}

export const builds = [
  get('/v1/builds', pageOfBuilds, {
    operationId: 'listBuilds',
    tag: 'Builds',
    summary: 'List recorded builds, newest first.',
    description: 'A page has 100 builds. Filters can be combined.',
    query: 'BuildsQuery',
    responses: { '200': response('One page of builds.', { schemas: ['BuildsPage'] }) },
  }),
  plainGet('/v1/builds/:id', buildById, {
    operationId: 'getBuild',
    tag: 'Builds',
    summary: 'Get a build with its CI runs and all recorded runs.',
    description: 'The runs of all nodes, newest first, and the newest 100 CI runs.',
    responses: { '200': response('The build.', { schemas: ['BuildDetail'] }), '404': refusal('There is no such build.') },
    parameters: [buildId],
  }),
];
