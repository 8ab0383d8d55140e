import { readlinkSync } from 'node:fs';
import { constants, setPriority } from 'node:os';
import { basename } from 'node:path';
import { move, transferableSymbol, valueSymbol, workerData } from 'piscina';
import type { Group, Task } from './threads.js';

/** Returns the value that a thread was started with. */
export function setupOfThread<Setup>(): Setup {
  return workerData as Setup;
}

/** Makes what the module of a worker thread exports: it performs tasks, and moves the blocks of bytes in their results out of the thread. */
export function performing(perform: (task: Task) => Promise<unknown>): (task: Task | null) => Promise<unknown> {
  lowerPriority(setupOfThread<{ group: Group }>().group);
  // Null: the pool only asks whether the thread is there.
  return async task => task && moved(await perform(task));
}

/** Moves the blocks of bytes in a result to the main thread, instead of copying them. */
function moved(result: unknown): unknown {
  const buffers = new Set<ArrayBuffer>();
  collect(result, buffers);
  return move({
    get [transferableSymbol]() {
      return [...buffers];
    },
    get [valueSymbol]() {
      return result;
    },
  } as never);
}

function collect(value: unknown, buffers: Set<ArrayBuffer>): void {
  if (ArrayBuffer.isView(value)) {
    // Memory that threads share stays where it is.
    if (value.buffer instanceof ArrayBuffer) buffers.add(value.buffer);
  } else if (Array.isArray(value)) {
    // Other arrays may be long.
    if (ArrayBuffer.isView(value[0])) for (const part of value) collect(part, buffers);
  } else if (value && typeof value === 'object') {
    for (const inner of Object.values(value)) collect(inner, buffers);
  }
}

/** Lowers the thread's priority. Where cores are scarce, the thread that answers goes first, and those that work for people last. */
function lowerPriority(group: Group): void {
  try {
    // Linux gives a thread an id of its own, which Node does not show.
    const thread = Number(basename(readlinkSync('/proc/thread-self')));
    const { PRIORITY_BELOW_NORMAL, PRIORITY_LOW } = constants.priority;
    setPriority(thread, group === 'nodes' ? PRIORITY_BELOW_NORMAL : PRIORITY_LOW);
  } catch {
    // On other systems all threads have the same priority.
  }
}
