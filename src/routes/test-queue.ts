import type { Batch } from '../engine/batch.js';
import { faults } from '../fault.js';
import type { Answer, Request } from '../http/request.js';
import { pathsWithoutTime } from '../store/builds.js';
import { digest } from '../store/digest.js';
import { listOfFiles } from '../store/file-blocks.js';
import type { OpenQueue, Verdict } from '../store/open-queue.js';
import type { Store } from '../store/open.js';
import { initializes } from '../wire/queue.js';
import type { TestQueueAnswer } from '../wire/test-queue.js';
import type { PlannedTestFile } from '../wire/test-file.js';
import { json, projectOfHeader } from './answer.js';
import type { Context } from './context.js';
import { bringing, connectFailed, type Handed, handOut, makeQueue, pullOrMake } from './handing-out.js';

const END: TestQueueAnswer = { paths: [], batch_id: null };

/** POST /v2/queues/queue: the same queues, for clients that tell what became of each batch. */
export async function testQueueForNode(context: Context, request: Request): Promise<Answer> {
  const { store, jobs, now } = context;
  const { project, prepared } = await jobs.post('prepareTestQueue', request, projectOfHeader(context, request));
  const { message, key, plan } = prepared;
  const { node_index, node_uuid, batch_index, batch_id, can_initialize_queue, failed_paths = [] } = message;
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
    return json(200, can_initialize_queue ? connectFailed : END);
  }
  const { open, batch } = handed;
  if (!batch) return json(200, END);
  return bringing(context, key, batch, () => {
    const answer: TestQueueAnswer = { paths: pathsOf(store, open, batch), batch_id: batch.seq };
    return JSON.stringify(answer);
  });
}

/** The files of a batch that failed; all of them when something did that is not in it. */
function failedOf(store: Store, open: OpenQueue, batch: Batch, failed: readonly string[]): number[] {
  if (failed.length === 0) return [];
  const paths = pathsOf(store, open, batch);
  const all = new Set(failed);
  const own = batch.files.filter((_, i) => all.has(paths[i]!));
  return own.length < all.size ? batch.files : own;
}

function unmeasuredOf(store: Store, open: OpenQueue, files: readonly number[], paths: ReadonlySet<string>): readonly number[] {
  if (paths.size === 0) return [];
  const names = pathsOf(store, open, { files });
  return files.filter((_, i) => paths.has(names[i]!));
}

function pathsOf(store: Store, { id }: OpenQueue, { files }: { files: readonly number[] }): string[] {
  const listed = JSON.parse(listOfFiles(store, id, files, '', '').toString()) as PlannedTestFile[];
  return listed.map(({ path }) => path);
}
