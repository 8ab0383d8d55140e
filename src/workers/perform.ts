import { authenticate } from '../api/authenticate.js';
import { decodeBody, tokenInBody } from '../api/messages/decode.js';
import { ApiError } from '../api-error.js';
import type { Store } from '../engine/ports/store.js';
import { posts, reads } from './jobs.js';
import type { PostTask, ReadTask, Task, TaskAnswer, TaskSetup } from './task.js';
import { warmUp } from './warm-up.js';

/** Performs a task. An ApiError becomes an answer, because a class instance cannot be passed between threads. */
export async function perform(store: Store, setup: TaskSetup, task: Task): Promise<TaskAnswer> {
  try {
    if (task.kind === 'warm-up') return { value: await warmUp(store, { pullCost: setup.pullCost, isWorker: true }) };
    return { value: await (task.kind === 'post' ? post(store, setup, task) : read(store, task)) };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const { status, errors, headers, reason } = error;
    return { error: { status, errors, headers, reason } };
  }
}

async function post(store: Store, { pullCost, tokenHeader }: TaskSetup, { job, body, project }: PostTask): Promise<unknown> {
  const sent = decodeBody(body.length === 1 ? body[0]! : Buffer.concat(body));
  const owner = project ?? (await authenticate(store.access, tokenInBody(sent), tokenHeader));
  return { project: owner, prepared: await posts[job](store, sent, owner, { pullCost, isWorker: true }) };
}

async function read(store: Store, { job, subject }: ReadTask): Promise<unknown> {
  return reads[job](store, subject as never);
}
