import { toSegments } from '../../base/bytes.js';
import { type JobAnswer, type JobSettings, perform } from '../api/jobs.js';
import { DEFAULT_MEMORY_BYTES, scaleMemory } from '../engine/memory-bounds.js';
import { openStore, type StoreSource } from '../store/source.js';
import { performing, setupOfThread } from '../threads/performing.js';

/** The module of a worker thread. */

export interface WorkerSetup extends JobSettings {
  source: StoreSource;
  /** See memory-bounds.ts; missing: the default. */
  memoryBytes?: number;
}

const setup = setupOfThread<WorkerSetup>();
scaleMemory(setup.memoryBytes ?? DEFAULT_MEMORY_BYTES);
const store = await openStore(setup.source);
// A thread that waits for its first task holds no snapshot either.
store.maintenance.refresh();

export default performing(async task => {
  // The main thread may have committed since this thread's last read.
  store.maintenance.refresh();
  try {
    return withBytes(await perform(store, setup, task));
  } finally {
    // A waiting thread holds no snapshot, because LMDB could not reuse the pages of that snapshot.
    store.maintenance.refresh();
  }
});

/** JSON goes to the main thread as bytes, because a string would be copied there. */
function withBytes(answer: JobAnswer): JobAnswer {
  const value = 'value' in answer ? (answer.value as { json?: string } | null | undefined) : null;
  return typeof value?.json === 'string' ? { value: { ...value, json: toSegments([value.json]).bytes } } : answer;
}
