import type { ListName } from '../api/messages/body-list.js';
import type { ApiError, ValidationErrors } from '../api-error.js';
import type { PathColumns } from '../planning/paths/path-list.js';
import type { Posts, Reads } from './jobs.js';
import type { KnownList } from './known-lists.js';

/** The input and output of worker threads. */

export interface PostTask<K extends keyof Posts = keyof Posts> {
  kind: 'post';
  job: K;
  /** The request's body, not decoded, in the pieces that were received. */
  body: Uint8Array[];
  /** Null: the token is in the body. */
  project: number | null;
  /** The list that the placeholder stands for in the body; missing: the body has its list. */
  list?: { name: ListName; placeholder: string; columns: PathColumns };
}

export interface ReadTask<K extends keyof Reads = keyof Reads> {
  kind: 'read';
  job: K;
  subject: Parameters<Reads[K]>[1];
}

/** Plans a made-up suite. After several of these, the code that plans is compiled. */
export interface WarmUpTask {
  kind: 'warm-up';
}

export type Task = PostTask | ReadTask | WarmUpTask;

/** The result of preparing a POST. */
export interface Prepared<K extends keyof Posts> {
  project: number;
  prepared: NonNullable<Awaited<ReturnType<Posts[K]>>>;
  /** The list of the body, to be known from now on; missing: it is known, or too small to be. */
  list?: KnownList;
}

/** The settings that tasks need. */
export interface TaskSetup {
  /** The header that a 403 names when no token was sent. */
  tokenHeader: string;
  /** The time that a node loses between two batches of a queue, as a weight. */
  pullCost: number;
}

/** Input of a worker thread. */
export interface WorkerSetup extends TaskSetup {
  dataDir: string;
  /** See memory-bounds.ts; missing: the default. */
  memoryBytes?: number;
}

/** Who waits for a task: a CI node or its job, or people who read about builds. Each has threads of its own. */
export type Lane = 'nodes' | 'people';

/** The fields of an ApiError, because a class instance cannot be passed between threads. */
export type TaskAnswer =
  | { value: unknown }
  | {
      error: {
        status: number;
        errors: readonly (string | ValidationErrors)[];
        headers: Readonly<Record<string, string>>;
        reason: ApiError['reason'];
      };
    };
