import { authenticate } from '../api/authenticate.js';
import { tokenInBody } from '../api/messages/decode.js';
import { ApiError } from '../api-error.js';
import { shareBytes, sharedMemory } from '../bytes.js';
import type { BaseList, ListTimes } from '../engine/list-times.js';
import type { KnownBase } from '../engine/plans.js';
import type { Store } from '../engine/ports/store.js';
import { limits } from '../limits.js';
import { PathList } from '../planning/paths/path-list.js';
import { type Posts, posts, reads } from './jobs.js';
import type { KnownList } from './known-lists.js';
import { decodeTask } from './listed-body.js';
import type { PostTask, Prepared, ReadTask, Task, TaskAnswer, TaskSetup } from './task.js';
import { warmUp } from './warm-up.js';

/** Performs a task. An ApiError becomes an answer, because a class instance cannot be passed between threads. */
export async function perform(store: Store, setup: TaskSetup, task: Task): Promise<TaskAnswer> {
  try {
    if (task.kind === 'warm-up') return { value: await warmUp(posted => post(store, setup, posted)) };
    return { value: await (task.kind === 'post' ? post(store, setup, task) : read(store, task)) };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const { status, errors, headers, reason } = error;
    return { error: { status, errors, headers, reason } };
  }
}

async function post(store: Store, { pullCost, tokenHeader }: TaskSetup, task: PostTask): Promise<Prepared<keyof Posts>> {
  const { job, project, base, version } = task;
  const { sent, listToKnow } = decodeTask(task);
  const owner = project ?? (await authenticate(store.access, tokenInBody(sent), tokenHeader));
  // A worker thread plans whatever it is given.
  const known: KnownBase = { base: baseOf(base), version: version ?? null, times: null };
  const prepared = (await posts[job](store, sent, owner, { pullCost, isWorker: true, known }))!;
  const list = listToKnow();
  // Few suites have more files of unknown test cases than this, and these would have to be copied each time.
  const times = known.times && known.times.files.size < limits.pooledTestFiles ? shareTimes(known.times) : null;
  return { project: owner, prepared, ...(list && { list }), ...(times && { times }) };
}

function baseOf(base: KnownList | undefined): BaseList | null {
  return base ? { list: new PathList(base.columns), times: base.times } : null;
}

/** Copies times to memory that threads share. */
function shareTimes({ seconds, basis, ...rest }: ListTimes): ListTimes {
  const shared = { seconds: new Float64Array(sharedMemory(seconds.byteLength)), basis: shareBytes(basis) };
  shared.seconds.set(seconds);
  return { ...rest, ...shared };
}

async function read(store: Store, { job, subject }: ReadTask): Promise<unknown> {
  return reads[job](store, subject as never);
}
