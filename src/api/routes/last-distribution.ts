import { closestBuild } from '../../engine/builds.js';
import type { Answer, Request } from '../../http/request.js';
import { askerOf } from '../authenticate.js';
import type { Context } from '../context.js';
import { decodeQuery } from '../decode.js';
import { json } from '../json.js';
import { toNodeKey } from '../messages/build.js';
import type { LastDistribution } from '../messages/split.js';
import { isSmallBuild } from '../reads.js';

const NO_BUILD: LastDistribution = { build_distribution_id: null, time_execution: 0, test_files: [] };

/** GET /build_distributions/last: the recorded test files of the build that most closely matches. */
export async function lastDistribution(context: Context, request: Request): Promise<Answer> {
  const { store, jobs } = context;
  const asker = await askerOf(context, request);
  const build = await closestBuild(store.builds, asker.project, toNodeKey(decodeQuery(request.query)));
  if (!build) return json(200, NO_BUILD);
  const { json: body } = await jobs.read('recordedDistribution', build, asker, { isHere: isSmallBuild(build) });
  return { status: 200, body };
}
