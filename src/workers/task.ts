import type { ApiError, ValidationErrors } from '../api-error.js';
import type { Posts, Reads } from './jobs.js';

/** What goes to a packing thread and comes back. */

export interface PostTask {
  kind: 'post';
  job: keyof Posts;
  /** The request's body, unread, in the pieces that it came in. */
  body: Uint8Array[];
  /** Null: the token is in the body. */
  project: number | null;
}

export interface ReadTask<K extends keyof Reads = keyof Reads> {
  kind: 'read';
  job: K;
  subject: Parameters<Reads[K]>[1];
}

/** JSON; from a thread as bytes. */
export interface ReadAnswer {
  status: number;
  body: string | Uint8Array;
}

/** The rest of a large answer, read while it is sent; see Answer in http/request.ts. */
export interface PiecedAnswer extends ReadAnswer {
  rest?: AsyncGenerator<Uint8Array>;
  memoryBytes?: number;
}

/** To run before anybody waits for it. */
export interface RehearsalTask {
  kind: 'rehearse';
}

export type Task = PostTask | ReadTask | RehearsalTask;

export interface WorkerSetup {
  dataDir: string;
  /** The header named to who sent no token. */
  tokenHeader: string;
  /** What a node loses between two batches of a queue, as a weight. */
  pullCost: number;
}

export type TaskAnswer =
  | { value: unknown }
  | { fault: { status: number; errors: (string | ValidationErrors)[]; headers: Record<string, string>; reason: ApiError['reason'] } };
