import { readlinkSync } from 'node:fs';
import { constants, setPriority } from 'node:os';
import { basename } from 'node:path';
import { move, transferableSymbol, valueSymbol, workerData } from 'piscina';
import { openLmdbStore } from '../store/lmdb/store.js';
import { perform } from './perform.js';
import type { Task, WorkerSetup } from './task.js';

/** The entry of a worker thread: a task in, blocks of bytes out. */

lowerPriority();
const setup = workerData as WorkerSetup;
const store = openLmdbStore(setup.dataDir);

/** @param task null: the pool only asks whether the thread is there */
export default async function work(task: Task | null): Promise<unknown> {
  if (task === null) return null;
  // The main thread has committed since this thread's last read.
  store.maintenance.refresh();
  try {
    return moved(await perform(store, setup, task));
  } finally {
    // While the thread waits, it holds no snapshot: LMDB could not reuse the pages that it could still read.
    store.maintenance.refresh();
  }
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
  if (ArrayBuffer.isView(value)) buffers.add(value.buffer as ArrayBuffer);
  else if (value && typeof value === 'object' && !Array.isArray(value)) {
    for (const inner of Object.values(value)) collect(inner, buffers);
  }
}

/** Where cores are scarce, the thread that answers goes first. */
function lowerPriority(): void {
  try {
    // Linux gives a thread an id of its own, which Node does not show.
    const thread = Number(basename(readlinkSync('/proc/thread-self')));
    setPriority(thread, constants.priority.PRIORITY_BELOW_NORMAL);
  } catch {
    // On other systems all threads have one priority.
  }
}
