import { lastRun } from './builds.js';
import type { Caller } from './caller.js';
import type { NodeKey, QueueKey } from './keys.js';
import { pathsOfQueue } from './planned-files.js';
import type { Millis, Store } from './ports/store.js';
import { type Batch, RAN_UNTIMED } from './queue/batch.js';
import { batchesOf, type LeaseEnd } from './queues.js';
import { newRun } from './recordings.js';

const SERVER: Caller = { isRetry: false, hasLeft: () => false };

/**
 * Records what a node, whose lease ended because it was silent, had told of the files that passed: it may never record them itself. When it comes
 * back, it is told so. Returns the number of files.
 */
export async function recordSilent(
  store: Store,
  key: QueueKey,
  queue: string,
  { seq, node_index }: Pick<LeaseEnd, 'seq' | 'node_index'>,
  at: Millis,
): Promise<number> {
  const node: NodeKey = { ...key.build, node_index };
  const { own } = await batchesOf(store.queues, queue);
  const last = await lastRun(store.builds, key.project, node);
  const told = toldSince(own, seq, last?.created_at ?? -Infinity);
  const files = told.flatMap(batch =>
    batch.files.map((file, i) => ({ file, milliseconds: batch.times![i]!, hasFailed: batch.failed!.includes(file) })),
  );
  // Nobody may learn how the job of a dead node ended: the gate is to miss what failed in it.
  const passed = files.filter(({ hasFailed }) => !hasFailed);
  if (passed.length === 0) return 0;
  const paths = await pathsOfQueue(
    store,
    queue,
    passed.map(({ file }) => file),
  );
  const recorded = passed.map(({ milliseconds }, i) =>
    milliseconds === RAN_UNTIMED
      ? { path: paths[i]!, time_execution: 0, ran: true }
      : { path: paths[i]!, time_execution: milliseconds / 1000 },
  );
  const run = newRun(recorded, key.ci_run);
  const { value, saved } = await store.recordings.record(key.project, node, run, SERVER, at);
  await saved;
  return value === 'recorded' ? passed.length : 0;
}

/** The batches of a process before one, of which it told the times, and which nobody has recorded. */
function toldSince(batches: readonly Batch[], seq: number, recordedAt: Millis): Batch[] {
  const last = batches.find(batch => batch.seq === seq);
  const ofProcess = batches.filter(batch => batch.node_index === last?.node_index && batch.run === last.run && batch.seq < seq);
  // It told of a batch with which it came back only after those before were recorded.
  const returned = ofProcess.findLastIndex(({ lease }) => lease === 'returned');
  return ofProcess
    .slice(Math.max(0, returned))
    .filter((batch, i) => batch.times && ((returned >= 0 && i === 0) || batch.handed_at > recordedAt));
}
