import type { ProjectSettings } from '../../../protocol/project-settings.js';
import type { Project } from '../../engine/ports/access.js';
import type { Build, RunHead } from '../../engine/ports/builds.js';
import type { Delivery } from '../../engine/ports/deliveries.js';
import type { QueueInfo } from '../../engine/ports/queues.js';
import type { Millis } from '../../engine/ports/store.js';
import type { WebhookEvent } from '../../engine/webhooks/event.js';
import type { BatchSums } from '../../planning/batching/batch-cost.js';

/** Records and keys that differ from the types of the ports. When the shape of a record changes, STORE_VERSION is raised. */

export interface ProjectRecord extends Omit<Project, 'id' | 'settings'> {
  settings: Partial<ProjectSettings>;
  /** When the project was deleted. The record goes with the last of what the project recorded. */
  deleted_at?: Millis;
  /** True if a path that is a test case inside a file was ever recorded. */
  has_test_cases: boolean;
}

/** A build under its number. */
export type BuildRecord = Omit<Build, 'number'>;

/** A run of a node that was recorded, counted from 1. */
export type RunKey = [build: number, node_index: number, run: number];

/** A recorded run. Its ordinal is 0 while it is in no build. */
export interface RunRecord extends Pick<RunHead, 'id' | 'created_at' | 'ordinal' | 'ci_run' | 'asked_at' | 'has_no_test'> {
  /** Its test files, see run-times.ts. */
  times: Buffer;
}

/** A queue as it was created. Its files are in `blobs`. Its batches are in the journal, a second later in `batches`. */
export interface QueueRecord extends Omit<QueueInfo, 'id'> {
  /** Most files were never measured. */
  guessed: boolean;
  /** Sums that earlier queues of its project had observed of their batches; null: nothing. */
  learned: BatchSums | null;
  /** Its key in queuesOfBuild. */
  build: string;
}

export type CiRunKey = [project: number, created_at: Millis, id: string];

/** '': all branches together. The day in whole days since 1970, UTC. */
export type DayKey = [project: number, branchDigest: string, day: number];

/** A delivery. One that was sent has no event. */
export interface DeliveryRecord extends Pick<Delivery, 'id' | 'created_at' | 'attempts'> {
  event: WebhookEvent | null;
  due_at: Millis;
}

export type DeliveryKey = [state: 'waiting' | 'ended', project: number, key: string];

/** See CasesPlace. */
export type CasesKey = [project: number, fileDigest: string, piece: number];

export interface CasesRecord {
  at: Millis;
  /** See EncodedCases. */
  report: Buffer;
}

export type ExpiryKey = [time: Millis, kind: string, ...key: (string | number)[]];

/** Progress of the sweep among the runs of a build, and the time of the oldest run that it kept. */
export interface ExpiryProgress {
  after: [node_index: number, run: number] | null;
  oldest: Millis | null;
}
