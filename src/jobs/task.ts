import type { Complaints } from '../fault.js';
import type { Build } from '../store/builds.js';
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

export interface ReadTask {
  kind: 'read';
  job: keyof Reads;
  build: Build;
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
  | { fault: { status: number; errors: (string | Complaints)[]; headers: Record<string, string> } };
