import { readlinkSync } from 'node:fs';
import { constants, setPriority } from 'node:os';
import { basename } from 'node:path';
import { move, transferableSymbol, valueSymbol, workerData } from 'piscina';
import { decodeBody, tokenInBody } from '../api/messages/decode.js';
import { ApiError } from '../api-error.js';
import { toSegments } from '../engine/segments.js';
import { openStore } from '../store/lmdb/open.js';
import { authenticate } from './authenticate.js';
import type { Outline, Piece } from './build-pieces.js';
import { posts, reads } from './jobs.js';
import type { PostTask, ReadAnswer, ReadTask, Task, TaskAnswer, WorkerSetup } from './task.js';
import { warmUp } from './warm-up.js';

/** The entry of a packing thread: a task in, blocks of bytes out. */

giveWay();
const setup = workerData as WorkerSetup;
const store = openStore(setup.dataDir);

export default function work(task: Task | null): unknown {
  // The thread is there.
  if (task === null) return null;
  // The main thread has committed since this thread's last read.
  store.root.resetReadTxn();
  try {
    return done(task);
  } finally {
    // While the thread waits, it holds on to nothing: what it could still read would not be used again on disk.
    store.root.resetReadTxn();
  }
}

function done(task: Task): unknown {
  if (task.kind === 'rehearse') return warmUp(store, setup.pullCost);
  try {
    return answer({ value: task.kind === 'post' ? post(task) : read(task) });
  } catch (error) {
    // A class does not survive the way between threads.
    if (error instanceof ApiError)
      return answer({ fault: { status: error.status, errors: [...error.errors], headers: { ...error.headers }, reason: error.reason } });
    throw error;
  }
}

function read({ job, subject }: ReadTask): unknown {
  const told: Outline | Piece | ReadAnswer = reads[job](store, subject as never);
  return 'body' in told ? { ...told, body: toSegments([told.body as string]).bytes } : told;
}

function post({ job, body, project }: PostTask): unknown {
  const sent = decodeBody(body.length === 1 ? body[0]! : Buffer.concat(body));
  const known = project ?? authenticate(store, tokenInBody(sent), setup.tokenHeader);
  return { project: known, prepared: posts[job](store, sent, known, { pullCost: setup.pullCost, isPooled: true }) };
}

function answer(given: TaskAnswer): unknown {
  const buffers = new Set<ArrayBuffer>();
  collect(given, buffers);
  return move({
    get [transferableSymbol]() {
      return [...buffers];
    },
    get [valueSymbol]() {
      return given;
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
function giveWay(): void {
  try {
    // Linux knows a thread by a number of its own, which Node does not tell.
    const thread = Number(basename(readlinkSync('/proc/thread-self')));
    setPriority(thread, constants.priority.PRIORITY_BELOW_NORMAL);
  } catch {
    // Elsewhere all threads have one priority.
  }
}
