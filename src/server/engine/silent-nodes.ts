import { runsOf } from './builds.js';
import type { Caller } from './caller.js';
import { type NodeKey, type QueueKey, shortDigest } from './keys.js';
import { pathsOfQueue } from './planned-files.js';
import type { Millis, Store } from './ports/store.js';
import { type Batch, RAN_UNTIMED } from './queue/batch.js';
import type { LeaseEnd } from './queues.js';
import { newRun } from './recordings.js';

const SERVER: Caller = { isRetry: false, hasLeft: () => false };

/**
 * Records what a node, whose lease ended because it was silent, had told of the files that passed: it may never record them itself. When it comes
 * back, it is told so. Returns the number of files.
 *
 * @param own the batches that the queue handed out itself, as they are on disk
 */
export async function recordSilent(
  store: Store,
  key: QueueKey,
  queue: string,
  own: readonly Batch[],
  { seq, node_index }: Pick<LeaseEnd, 'seq' | 'node_index'>,
  at: Millis,
): Promise<number> {
  const node: NodeKey = { ...key.build, node_index };
  const runs = await runsOf(store.builds, key.project, node);
  // Another CI run of the build may have a node with this number. A run that names no CI run may belong to this one.
  const last = runs.findLast(({ ci_run }) => ci_run === 0 || ci_run === shortDigest(key.ci_run));
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
  const left = ofProcess.slice(Math.max(0, returned));
  return left.filter(
    ({ times, handed_at }, i) => times && (returned >= 0 && i === 0 ? (left[1]?.handed_at ?? Infinity) : handed_at) > recordedAt,
  );
}
