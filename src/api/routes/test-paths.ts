import type { Answer, Request } from '../../http/request.js';
import { json, projectOf } from '../answer.js';
import type { Context } from '../context.js';
import { decodeQuery } from '../messages/decode.js';
import { type TestPathsAnswer, toTestPathsQuery } from '../messages/test-paths.js';

const NONE: TestPathsAnswer = { failed_paths: [] };

/** GET /v2/test_paths: what failed in the newest build of a branch, for who runs it again elsewhere, where its clients told that. */
export async function failedOnBranch(context: Context, request: Request): Promise<Answer> {
  const { store, jobs } = context;
  const project = projectOf(context, request);
  const { branch } = toTestPathsQuery(decodeQuery(request.query));
  const build = store.builds.newest(project, { branch });
  const queue = build && store.queues.newest(project, build);
  return queue === null ? json(200, NONE) : jobs.failedPaths(project, queue.id, request.hasLeft);
}
