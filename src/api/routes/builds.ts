import { apiErrors } from '../../api-error.js';
import type { Answer, Request } from '../../http/request.js';
import { limits } from '../../limits.js';
import { toBuildAnswer } from '../../workers/read.js';
import { baseUrl, json, projectOf } from '../answer.js';
import type { Context } from '../context.js';
import { type BuildsPage, toBuildsQuery } from '../messages/build.js';
import { decodeQuery } from '../messages/decode.js';

/** GET /builds: a page of the project's builds, newest first. */
export function pageOfBuilds(context: Context, request: Request): Answer {
  const project = projectOf(context, request);
  const { page, ...filter } = toBuildsQuery(decodeQuery(request.query));
  const { total, builds } = context.store.builds.page(project, filter, page);
  const total_pages = Math.ceil(total / limits.buildsPerPage);
  const last = Math.max(1, total_pages);
  const link = (to: number | null) => {
    if (to === null) return null;
    const query = new URLSearchParams();
    if (filter.branch !== undefined) query.set('branch', filter.branch);
    if (filter.commit_hash !== undefined) query.set('commit_hash', filter.commit_hash);
    if (filter.node_total !== undefined) query.set('node_total', String(filter.node_total));
    query.set('page', String(to));
    return `${baseUrl(context, request)}/v1/builds?${query.toString()}`;
  };
  const prev_page = page > 1 ? Math.min(page - 1, last) : null;
  const next_page = page < last ? page + 1 : null;
  const answer: BuildsPage = {
    meta: {
      records_per_page: limits.buildsPerPage,
      total_pages,
      prev_page,
      current_page: page,
      next_page,
      is_first_page: page === 1,
      is_last_page: page === last,
      is_page_out_of_range: page > last,
    },
    links: { first: link(1), prev: link(prev_page), self: link(page), next: link(next_page), last: link(last) },
    data: builds.map(toBuildAnswer),
  };
  return json(200, answer);
}

/** GET /builds/:id: a build with all its recorded runs. */
export async function buildById(context: Context, request: Request, id: string): Promise<Answer> {
  const build = context.store.builds.get(projectOf(context, request), id.toLowerCase());
  if (!build) throw apiErrors.buildNotFound();
  return context.jobs.build(build, request.hasLeft);
}
