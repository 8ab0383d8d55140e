import type { Complaints } from '../fault.js';
import type { Build } from '../store/builds.js';
import type { prepareQueue, prepareSplit, prepareSubset } from './prepare.js';
import type { buildDetail, recordedDistribution } from './read.js';

/** What goes to a packing thread and comes back. */

export interface PostJob {
  prepareSubset: typeof prepareSubset;
  prepareSplit: typeof prepareSplit;
  prepareQueue: typeof prepareQueue;
}

export interface ReadJob {
  buildDetail: typeof buildDetail;
  recordedDistribution: typeof recordedDistribution;
}

export interface PostTask {
  kind: 'post';
  job: keyof PostJob;
  /** The request's body, unread. */
  body: Uint8Array;
  /** Null: the token is in the body. */
  project: number | null;
  /** The header named to who sent no token. */
  tokenHeader: string;
}

export interface ReadTask {
  kind: 'read';
  job: keyof ReadJob;
  build: Build;
}

export interface WorkerSetup {
  dataDir: string;
}

export type TaskAnswer =
  | { value: unknown }
  | { fault: { status: number; errors: (string | Complaints)[]; headers: Record<string, string> } };
