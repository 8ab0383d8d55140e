import { readlinkSync } from 'node:fs';
import { constants, setPriority } from 'node:os';
import { basename } from 'node:path';
import { move, transferableSymbol, valueSymbol, workerData } from 'piscina';
import { toSegments } from '../engine/segments.js';
import { DEFAULT_MEMORY_BYTES, scaleMemory } from '../memory-bounds.js';
import { openLmdbStore } from '../store/lmdb/store.js';
import { perform } from './perform.js';
import type { Lane, Task, TaskAnswer, WorkerSetup } from './task.js';

/** The entry point of a worker thread: it takes a task and returns blocks of bytes. */

const setup = workerData as WorkerSetup & { lane: Lane };
lowerPriority(setup.lane);
moveFirstBuffer();
scaleMemory(setup.memoryBytes ?? DEFAULT_MEMORY_BYTES);
const store = openLmdbStore(setup.dataDir);

/** @param task null: the pool only asks whether the thread is there */
export default async function work(task: Task | null): Promise<unknown> {
  if (task === null) return null;
  // The main thread may have committed since this thread's last read.
  store.maintenance.refresh();
  try {
    return moved(withBytes(await perform(store, setup, task)));
  } finally {
    // A waiting thread holds no snapshot, because LMDB could not reuse the pages of that snapshot.
    store.maintenance.refresh();
  }
}

/** JSON goes to the main thread as bytes, because a string would be copied there. */
function withBytes(answer: TaskAnswer): TaskAnswer {
  const value = 'value' in answer ? (answer.value as { json?: string } | null | undefined) : null;
  return typeof value?.json === 'string' ? { value: { ...value, json: toSegments([value.json]).bytes } } : answer;
}

/** Moves the blocks of bytes in an answer to the main thread, instead of copying them. */
function moved(answer: object): unknown {
  const buffers = new Set<ArrayBuffer>();
  collect(answer, buffers);
  return move({
    get [transferableSymbol]() {
      return [...buffers];
    },
    get [valueSymbol]() {
      return answer;
    },
  } as never);
}

function collect(value: unknown, buffers: Set<ArrayBuffer>): void {
  if (ArrayBuffer.isView(value)) {
    // Memory that threads share stays where it is.
    if (value.buffer instanceof ArrayBuffer) buffers.add(value.buffer);
  } else if (value && typeof value === 'object' && !Array.isArray(value)) {
    for (const inner of Object.values(value)) collect(inner, buffers);
  }
}

/** Moves a buffer out of this thread. At the first move, V8 discards all compiled code that reads typed arrays. So it must precede the warm-up. */
function moveFirstBuffer(): void {
  const buffer = new ArrayBuffer(1);
  structuredClone(buffer, { transfer: [buffer] });
}

/** Lowers the thread's priority. Where cores are scarce, the thread that answers goes first, and those that work for people last. */
function lowerPriority(lane: Lane): void {
  try {
    // Linux gives a thread an id of its own, which Node does not show.
    const thread = Number(basename(readlinkSync('/proc/thread-self')));
    const { PRIORITY_BELOW_NORMAL, PRIORITY_LOW } = constants.priority;
    setPriority(thread, lane === 'nodes' ? PRIORITY_BELOW_NORMAL : PRIORITY_LOW);
  } catch {
    // On other systems all threads have the same priority.
  }
}
