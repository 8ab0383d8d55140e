import { authenticate } from '../api/authenticate.js';
import { tokenInBody } from '../api/messages/decode.js';
import { ApiError } from '../api-error.js';
import type { Store } from '../engine/ports/store.js';
import { type Posts, posts, reads } from './jobs.js';
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
  const { job, project } = task;
  const { sent, listToKnow } = decodeTask(task);
  const owner = project ?? (await authenticate(store.access, tokenInBody(sent), tokenHeader));
  // A worker thread plans whatever it is given.
  const prepared = (await posts[job](store, sent, owner, { pullCost, isWorker: true }))!;
  const list = listToKnow();
  return { project: owner, prepared, ...(list && { list }) };
}

async function read(store: Store, { job, subject }: ReadTask): Promise<unknown> {
  return reads[job](store, subject as never);
}
