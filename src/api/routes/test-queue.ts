import { apiErrors } from '../../api-error.js';
import { beginningOf } from '../../engine/moment.js';
import type { Batch } from '../../engine/queue/batch.js';
import { failedOf } from '../../engine/queue/failed.js';
import type { Answer, Request } from '../../http/request.js';
import { buildIdKey, pathsWithoutTime, runsRecordedOf } from '../../store/lmdb/builds.js';
import { digest } from '../../store/lmdb/digest.js';
import { filesOf, pathsOf } from '../../store/lmdb/file-blocks.js';
import type { Store } from '../../store/lmdb/open.js';
import type { OpenQueue, Verdict } from '../../store/lmdb/open-queue.js';
import { differs, isOtherList, isToSend, sentenceOf } from '../../store/lmdb/other-lists.js';
import { json, projectOfHeader } from '../answer.js';
import type { Context } from '../context.js';
import { codeLine, lines } from '../lines.js';
import { isInitialization } from '../messages/queue.js';
import type { PlannedTestFile } from '../messages/test-file.js';
import type { TestQueueAnswer } from '../messages/test-queue.js';
import { buildsUrl, connectFailed, createQueue, type Dispatched, dispatch, pullOrCreate, withDeliveryReceipt } from './dispatch.js';

const END: TestQueueAnswer = { paths: [], batch_id: null };

/** POST /v2/queues/queue: the same queues, for clients that tell what became of each batch. */
export async function testQueueForNode(context: Context, request: Request): Promise<Answer> {
  const { store, jobs, now } = context;
  const { project, prepared } = await jobs.post('prepareTestQueue', request, projectOfHeader(context, request));
  const { message, key, plan, sent } = prepared;
  const { node_index, node_uuid, batch_index, batch_id, can_initialize_queue, failed_paths = [], wants_times } = message;
  const { wantsText } = request;
  const run = digest(node_uuid);
  const at = now();
  // A pull that skips itself would be taken for the end of the queue.
  const takesNothing = message.skip_pull === true && can_initialize_queue;
  const { test_files_digest } = message;
  const isOther = ({ record: { list } }: OpenQueue) => {
    if (sent) return test_files_digest !== undefined && differs(list, sent);
    return can_initialize_queue ? isToSend(list, test_files_digest) : isOtherList(list, test_files_digest);
  };
  const pull = (open: OpenQueue): Verdict<Dispatched> => {
    if (takesNothing || isOther(open)) return { value: { open, batch: null }, changes: [] };
    const failed = (batch: Batch) =>
      failed_paths.length === 0 ? { failed: [] } : failedOf(batch, pathsOf(store, open.id, batch.files), failed_paths);
    const pulled = { node_index, batch_uuid: `${run} ${batch_index}` };
    const ran = batch_id === undefined ? null : open.queue.acknowledge(pulled, batch_id, failed);
    const asked = {
      ...pulled,
      run,
      isRetry: false,
      hasLeft: request.hasLeft,
      starts: can_initialize_queue,
      ...(can_initialize_queue && { runs_before: runsRecordedOf(store, buildIdKey(project, message)) }),
      wantsLastSplit: false,
      recordedSubset: null,
      acknowledges: true as const,
      unmeasured: (files: readonly number[]) =>
        unmeasuredOf(store, open, files, pathsWithoutTime(store, project, message, beginningOf(open.record))),
    };
    const { value, changes } = dispatch(context, open, asked, at);
    return { value, changes: ran ? [ran, ...changes] : changes };
  };
  const make = async () => plan && createQueue(context, project, key, message, plan, at);
  const { handed } = await pullOrCreate(context, key, sent, pull, make, at);
  if (!handed) {
    if (isInitialization(message)) throw apiErrors.expired('queue');
    if (!can_initialize_queue) throw apiErrors.queueNotFound('test_queue_id');
    return wantsText ? codeLine(connectFailed.code) : json(200, connectFailed);
  }
  const { open, batch } = handed;
  if (isOther(open)) {
    // A node that only connects must send its list, and then gets the difference.
    if (can_initialize_queue && !sent) return wantsText ? codeLine(connectFailed.code) : json(200, connectFailed);
    const { list } = open.record;
    throw apiErrors.listDiffers(
      'queue',
      sent ? sentenceOf('queue', list, sent) : `the queue was made of another list, of ${list!.test_files} test files`,
    );
  }
  const answered = wants_times ? { node_uuid, batch_index } : {};
  if (!batch)
    return wantsText ? lines([]) : json(200, { ...END, ...answered, ...(takesNothing && { url: buildsUrl(context, request, message) }) });
  return withDeliveryReceipt(context, key, batch, () => {
    const files = toRun(store, open, batch);
    const paths = files.map(({ path }) => path);
    const { seq: batch_id } = batch;
    if (wantsText) return lines(paths, { 'X-Ballast-Batch-Id': String(batch_id) });
    const answer: TestQueueAnswer = {
      paths,
      batch_id,
      ...(wants_times && { times: files.map(({ time_execution }) => time_execution) }),
      ...answered,
    };
    return json(200, answer);
  });
}

/** What a batch hands out: its files, but of those that are to be run in part the test cases. */
function toRun(store: Store, open: OpenQueue, batch: Batch): PlannedTestFile[] {
  const files = filesOf(store, open.id, batch.files);
  if (!batch.cases) return files;
  const cases = new Map(batch.cases);
  return files.flatMap((file, i) => cases.get(batch.files[i]!)?.map(path => ({ path, time_execution: null })) ?? [file]);
}

function unmeasuredOf(store: Store, open: OpenQueue, files: readonly number[], paths: ReadonlySet<string>): readonly number[] {
  if (paths.size === 0) return [];
  const listed = pathsOf(store, open.id, files);
  return files.filter((_, i) => paths.has(listed[i]!));
}
