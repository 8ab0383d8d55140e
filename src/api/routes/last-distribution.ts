import type { Build } from '../../engine/ports/builds.js';
import type { Answer, Request } from '../../http/request.js';
import { json, projectOf } from '../answer.js';
import type { Context } from '../context.js';
import { toNodeKey } from '../messages/build.js';
import { decodeQuery } from '../messages/decode.js';

/** GET /build_distributions/last: what was recorded for the build that most closely matches. */
export async function lastDistribution(context: Context, request: Request): Promise<Answer> {
  const project = projectOf(context, request);
  const { commit_hash, branch, node_total } = toNodeKey(decodeQuery(request.query));
  const { builds } = context.store;
  const filters = [{ commit_hash, branch, node_total }, { branch, node_total }, { branch }, {}];
  const build = filters.reduce<Build | null>((found, filter) => found ?? builds.newest(project, filter), null);
  if (!build) return json(200, { build_distribution_id: null, time_execution: 0, test_files: [] });
  return context.jobs.distribution(build, request.hasLeft);
}
