import { failedIn } from '../engine/failed.js';
import type { Answer, Request } from '../http/request.js';
import { buildIdKey, newestBuild } from '../store/builds.js';
import { pathsOf } from '../store/file-blocks.js';
import { batchesOf } from '../store/open-queue.js';
import { findLastQueue } from '../store/queue-keys.js';
import { decodeQuery } from '../wire/decode.js';
import { type TestPathsAnswer, toTestPathsQuery } from '../wire/test-paths.js';
import { json, projectOf } from './answer.js';
import type { Context } from './context.js';

/** GET /v2/test_paths: what failed in the newest build of a branch, for who runs it again elsewhere, where its clients told that. */
export function failedOnBranch(context: Context, request: Request): Answer {
  const { store } = context;
  const project = projectOf(context, request);
  const { branch } = toTestPathsQuery(decodeQuery(request.query));
  const build = newestBuild(store, project, { branch });
  const queue = build && findLastQueue(store, buildIdKey(project, build));
  const failed = queue === null ? new Map<number, string[] | null>() : failedIn(batchesOf(store, queue));
  const paths = queue === null || failed.size === 0 ? [] : pathsOf(store, queue, [...failed.keys()]);
  const answer: TestPathsAnswer = { failed_paths: [...failed.values()].flatMap((cases, i) => cases ?? paths[i]!) };
  return json(200, answer);
}
