import type { Batch } from '../engine/batch.js';
import { faults } from '../fault.js';
import type { Answer, Request } from '../http/request.js';
import { pathsWithoutTime } from '../store/builds.js';
import { digest } from '../store/digest.js';
import type { OpenQueue, Verdict } from '../store/open-queue.js';
import type { Store } from '../store/open.js';
import { initializes } from '../wire/queue.js';
import type { TestQueueAnswer } from '../wire/test-queue.js';
import { json, projectOfHeader } from './answer.js';
import type { Context } from './context.js';
import { bringing, connectFailed, filesOf, type Handed, handOut, makeQueue, pullOrMake } from './handing-out.js';
import { codeLine, lines } from './lines.js';

const END: TestQueueAnswer = { paths: [], batch_id: null };

/** POST /v2/queues/queue: the same queues, for clients that tell what became of each batch. */
export async function testQueueForNode(context: Context, request: Request): Promise<Answer> {
  const { store, jobs, now } = context;
  const { project, prepared } = await jobs.post('prepareTestQueue', request, projectOfHeader(context, request));
  const { message, key, plan } = prepared;
  const { node_index, node_uuid, batch_index, batch_id, can_initialize_queue, failed_paths = [], wants_times } = message;
  const { wantsText } = request;
  const run = digest(node_uuid);
  const at = now();
  const pull = (open: OpenQueue): Verdict<Handed> => {
    const ran = batch_id === undefined ? null : open.queue.acknowledge(node_index, batch_id, batch => failedOf(store, open, batch, failed_paths));
    const asked = {
      node_index,
      run,
      batch_uuid: `${run} ${batch_index}`,
      isRetry: false,
      hasLeft: request.hasLeft,
      starts: can_initialize_queue,
      wantsLastSplit: false,
      recordedSubset: null,
      acknowledges: true as const,
      unmeasured: (files: readonly number[]) => unmeasuredOf(store, open, files, pathsWithoutTime(store, project, message, open.record.created_at)),
    };
    const { value, changes } = handOut(context, open, asked, at);
    return { value, changes: ran ? [ran, ...changes] : changes };
  };
  const make = async () => plan && makeQueue(context, project, key, message, plan, at);
  const { handed } = await pullOrMake(context, key, pull, make, at);
  if (!handed) {
    if (initializes(message)) throw faults.expiredMeanwhile('queue');
    if (!can_initialize_queue) return wantsText ? lines([]) : json(200, END);
    return wantsText ? codeLine(connectFailed.code) : json(200, connectFailed);
  }
  const { open, batch } = handed;
  if (!batch) return wantsText ? lines([]) : json(200, END);
  return bringing(context, key, batch, () => {
    const files = filesOf(store, open, batch);
    const paths = files.map(({ path }) => path);
    const { seq: batch_id } = batch;
    if (wantsText) return lines(paths, { 'X-Ballast-Batch-Id': String(batch_id) });
    const answer: TestQueueAnswer = { paths, batch_id, ...(wants_times && { times: files.map(({ time_execution }) => time_execution) }) };
    return json(200, answer);
  });
}

/** The files of a batch that failed; all of them when something did that is not in it. */
function failedOf(store: Store, open: OpenQueue, batch: Batch, failed: readonly string[]): number[] {
  if (failed.length === 0) return [];
  const paths = filesOf(store, open, batch).map(({ path }) => path);
  const all = new Set(failed);
  const own = batch.files.filter((_, i) => all.has(paths[i]!));
  return own.length < all.size ? batch.files : own;
}

function unmeasuredOf(store: Store, open: OpenQueue, files: readonly number[], paths: ReadonlySet<string>): readonly number[] {
  if (paths.size === 0) return [];
  const listed = filesOf(store, open, { files });
  return files.filter((_, i) => paths.has(listed[i]!.path));
}
