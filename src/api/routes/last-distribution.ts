import type { Answer, Request } from '../../http/request.js';
import { closestBuild } from '../../store/lmdb/builds.js';
import { json, projectOf } from '../answer.js';
import type { Context } from '../context.js';
import { toNodeKey } from '../messages/build.js';
import { decodeQuery } from '../messages/decode.js';

/** GET /build_distributions/last: what was recorded for the build that most closely matches. */
export async function lastDistribution(context: Context, request: Request): Promise<Answer> {
  const project = projectOf(context, request);
  const build = closestBuild(context.store, project, toNodeKey(decodeQuery(request.query)));
  if (!build) return json(200, { build_distribution_id: null, time_execution: 0, test_files: [] });
  return context.jobs.distribution(build, request.hasLeft);
}
