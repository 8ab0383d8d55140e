import { apiErrors } from '../../api-error.js';
import type { Answer, Request } from '../../http/request.js';
import { buildIdKey } from '../../store/lmdb/builds.js';
import { differs, isToSend, noteListOfSplit, sentenceOf } from '../../store/lmdb/other-lists.js';
import type { SplitRecord } from '../../store/lmdb/records.js';
import { answerOfSplit, findSplitOnDisk, installSplit, useSplit } from '../../store/lmdb/splits.js';
import { json, projectOfHeader } from '../answer.js';
import type { Context } from '../context.js';
import { codeLine, lines } from '../lines.js';
import type { SplitMiss } from '../messages/split.js';
import type { PlannedTestFile } from '../messages/test-file.js';

const MISS: SplitMiss = { code: 'TEST_SUITE_SPLIT_CACHE_MISS' };

/** POST /build_distributions/subset: the test files of one node in regular mode. */
export async function splitForNode(context: Context, request: Request): Promise<Answer> {
  const { store, jobs, now } = context;
  const { project, prepared } = await jobs.post('prepareSplit', request, projectOfHeader(context, request));
  const { message, key, plan, sent } = prepared;
  const { node_index, node_total } = message;
  const user = message.fixed_test_suite_split ? message.ci_build_id : null;
  const build = () => buildIdKey(project, message);
  let split = await findSplitOnDisk(store, key);
  if (!split && plan) {
    const at = now();
    const record: SplitRecord = { v: 1, id: plan.id, node_total, people: plan.people, list: plan.list, created_at: at, used_at: at };
    split = await installSplit(store, key, build(), record, plan, user);
  }
  if (!split && !message.cache_read_attempt) throw apiErrors.expired('split');
  if (split && sent) await noteListOfSplit(store, key, build, split, user, sent, now());
  const { test_files_digest } = message;
  if (split && sent && test_files_digest !== undefined && differs(split.list, sent))
    throw apiErrors.listDiffers('split', sentenceOf('split', split.list, sent));
  // A node with another list must send it, and then gets the difference.
  if (!split || (!sent && isToSend(split.list, test_files_digest))) return request.wantsText ? codeLine(MISS.code) : json(200, MISS);
  await useSplit(store, key, build, split, user, now());
  const body = answerOfSplit(store, split, node_index);
  if (!body) throw apiErrors.expired('split');
  if (request.wantsText) return asLines(body);
  return { status: 200, body: test_files_digest === undefined ? body : withDigest(body, test_files_digest) };
}

/** Adds the digest of its list to the answer: a client that sent one rejects an answer of another list, as from a cache. */
function withDigest(body: Buffer, digest: string): Buffer {
  return Buffer.concat([Buffer.from(`{"test_files_digest":${JSON.stringify(digest)},`), body.subarray(1)]);
}

function asLines(body: Buffer): Answer {
  const { build_distribution_id, test_files } = JSON.parse(body.toString()) as {
    build_distribution_id: string;
    test_files: PlannedTestFile[];
  };
  return lines(
    test_files.map(({ path }) => path),
    { 'X-Ballast-Split-Id': build_distribution_id },
  );
}
