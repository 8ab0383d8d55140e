import type { Soon } from '../../../base/soon.js';
import type { Millis } from './store.js';

/** Operations that keep a store able to serve. */
export interface Maintenance {
  /** Throws a 503 when writes are refused or have failed. Does not write. */
  assertWritable(): void;
  /** Makes a write, and resolves when it is on disk. */
  probe(at: Millis): Promise<void>;
  /**
   * Resolves when the stores of other threads see all recorded runs, the times of all recorded runs, or all batches of queues: of a
   * project, if one is named.
   */
  publish(what: 'runs' | 'timings' | 'queues', project?: number | null): Promise<void>;
  /** Makes the commits of other threads and processes visible to the next read. */
  refresh(): void;
  /**
   * Deletes records not used since `before`, and what projects recorded that were deleted before `deletedBefore`, in bounded steps; yields
   * between steps. A queue or split in use stays. A deleted project is gone, and counted, with the first sweep that finds nothing of it.
   *
   * @param count called with the kind of each record that is deleted
   */
  sweep(times: { before: Millis; deletedBefore: Millis }, count: (kind: ExpiringKind) => void): AsyncIterable<void>;
  load(): Soon<StoreLoad>;
  /** The processes that serve the store; null: one at most does. */
  readonly processes: Processes | null;
}

/** The statuses that the processes on one store share. */
export interface Processes {
  /** Publishes the status of this process, as JSON. */
  publish(status: string): Promise<void>;
  /** Withdraws the status. */
  leave(): Promise<void>;
  /** Returns the last status of each other process that published one since a time, and its time on the clock of the store. */
  others(since: Millis): Promise<{ status: string; at: Millis }[]>;
}

export type ExpiringKind = 'subset' | 'split' | 'queue' | 'ci_run' | 'path' | 'day' | 'project';

/** The connections to a database. */
export interface DatabaseLoad {
  /** Connections that are open, and those of them that run a statement. */
  open: number;
  busy: number;
  /** Statements that wait for a connection. */
  waiting: number;
  /** Seconds in all without a connection to be had, or without an answer to the watch. */
  awaySeconds: number;
  /** The clock of the database minus that of this machine. */
  clockOffsetSeconds: number;
  /** Number of statements that ran again, because their connection was lost or their commit came with a warning. */
  repeated: number;
}

export interface StoreLoad {
  bytes: number;
  /** Null: the store is on another machine. */
  diskFreeBytes: number | null;
  /** Records of the journal that wait for a checkpoint. */
  journalRecords: number;
  /** The number of records by kind. Where there are many, it may be approximate. */
  records: Record<string, number>;
  /** Null: it is a folder. */
  database: DatabaseLoad | null;
}
