import { apiErrors } from '../../api-error.js';
import { describeLists, differs, isOtherList } from '../../engine/test-file-list.js';
import type { Answer, Request } from '../../http/request.js';
import { pathsIn } from '../../workers/prepare.js';
import { json, projectOfHeader } from '../answer.js';
import type { Context } from '../context.js';
import { codeLine, lines } from '../lines.js';
import type { SplitMiss } from '../messages/split.js';

const MISS: SplitMiss = { code: 'TEST_SUITE_SPLIT_CACHE_MISS' };

/** POST /build_distributions/subset: the test files of one node in regular mode. */
export async function splitForNode(context: Context, request: Request): Promise<Answer> {
  const { store, jobs, now } = context;
  const { prepared } = await jobs.post('prepareSplit', request, projectOfHeader(context, request));
  const { message, key, plan, sent } = prepared;
  const { node_index } = message;
  let split = await store.splits.find(key);
  if (!split && plan) split = await store.splits.create(key, plan, now());
  if (!split && !message.cache_read_attempt) throw apiErrors.expiredMeanwhile('split');
  if (split && sent && differs(split.list, sent))
    await store.splits.noteOtherList(key, split, describeLists('split', split.list, sent), now());
  const { test_files_digest } = message;
  if (split && sent && test_files_digest !== undefined && differs(split.list, sent))
    throw apiErrors.listDiffers('split', describeLists('split', split.list, sent));
  // A node with another list must send it, and then gets the difference.
  if (!split || (!sent && isOtherList(split.list, { digest: test_files_digest, sent, isFirstRequest: true })))
    return request.wantsText ? codeLine(MISS.code) : json(200, MISS);
  await store.splits.use(key, split, now());
  const files = store.splits.files(split, node_index);
  if (!files) throw apiErrors.expiredMeanwhile('split');
  if (request.wantsText) return lines(pathsIn(files), { 'X-Ballast-Split-Id': split.id });
  const digest = test_files_digest === undefined ? '' : `"test_files_digest":${JSON.stringify(test_files_digest)},`;
  const head = `{${digest}"build_distribution_id":"${split.id}","node_index":${node_index},"test_files":`;
  return { status: 200, body: Buffer.concat([Buffer.from(head), files, Buffer.from('}')]) };
}
