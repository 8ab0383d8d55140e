import type { Answer, Request } from '../../http/request.js';
import { askerOf } from '../authenticate.js';
import type { Context } from '../context.js';
import { decodeQuery } from '../decode.js';
import { json } from '../json.js';
import { type TestPathsAnswer, toTestPathsQuery } from '../messages/test-paths.js';

const NONE: TestPathsAnswer = { failed_paths: [] };

/** GET /v2/test_paths: the paths that clients reported as failed in the newest build of a branch. */
export async function failedOnBranch(context: Context, request: Request): Promise<Answer> {
  const { store, jobs } = context;
  const asker = await askerOf(context, request);
  const { branch } = toTestPathsQuery(decodeQuery(request.query));
  const build = await store.builds.newest(asker.project, { branch });
  const queue = build && (await store.queues.newest(asker.project, build));
  if (!queue) return json(200, NONE);
  // Always read in a worker thread, because their number is unknown.
  return { status: 200, body: (await jobs.read('failedTestPaths', queue.id, asker)).json };
}
