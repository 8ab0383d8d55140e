import type { TestPathsAnswer } from '../../../protocol/messages/queue.js';
import { newestBuild } from '../../engine/builds.js';
import type { Answer, Request } from '../../http/request.js';
import { askerOf } from '../authenticate.js';
import type { Context } from '../context.js';
import { get } from '../endpoint.js';
import { decodeQuery, json } from '../json.js';
import { response } from '../openapi/responses.js';
import { toTestPathsQuery } from '../read/queue.js';

const NONE: TestPathsAnswer = { failed_paths: [] };

/** GET /v2/test_paths: the paths that clients reported as failed in the newest build of a branch. */
async function failedOnBranch(context: Context, request: Request): Promise<Answer> {
  const { store, jobs } = context;
  const asker = await askerOf(context, request);
  const { branch } = toTestPathsQuery(decodeQuery(request.query));
  const build = await newestBuild(store.builds, asker.project, { branch });
  const queue = build && (await store.queues.newest(asker.project, build));
  if (!queue) return json(200, NONE);
  // Always read in a worker thread, because their number is unknown.
  return { status: 200, body: (await jobs.read('failedTestPaths', { id: queue.id, list: queue.list }, asker)).json };
}

/** The endpoint for what failed. */
export const testPaths = [
  get('/v2/test_paths', failedOnBranch, {
    operationId: 'listFailedTestPaths',
    tag: 'Queue mode',
    summary: 'List what failed in the newest build of a branch.',
    description: 'Only clients of version 2 report failures.',
    query: 'TestPathsQuery',
    responses: { '200': response('Test files, or test cases in them.', { schemas: ['TestPathsAnswer'] }) },
  }),
];
