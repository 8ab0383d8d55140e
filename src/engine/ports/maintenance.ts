import type { Millis, Soon } from './store.js';

/** What keeps a store fit to serve. */
export interface Maintenance {
  /** Throws a 503 when writes are refused or have failed. It writes nothing. */
  assertWritable(): void;
  /** Writes, and resolves when that is on disk. */
  probe(at: Millis): Promise<void>;
  /** Resolves when the stores of other threads see all recorded times, or all that queues handed out. */
  publishTimings(): Promise<void>;
  publishQueues(): Promise<void>;
  /** Lets the next read see what other threads and processes have committed. */
  refresh(): void;
  /**
   * Deletes what was not used since `before`, a bounded step at a time; yields between steps. A queue or split in use stays.
   *
   * @param count called with the kind of each record that is deleted
   */
  sweep(before: Millis, count: (kind: ExpiringKind) => void): AsyncIterable<void>;
  /** The time that was kept last; null: none was. */
  keptTime(): Soon<Millis | null>;
  keepTime(at: Millis): Promise<void>;
  load(): StoreLoad;
}

export type ExpiringKind = 'subset' | 'split' | 'queue' | 'path';

export interface StoreLoad {
  bytes: number;
  diskFreeBytes: number;
  /** Turns of the journal that wait for a checkpoint. */
  journalTurns: number;
  /** The number of records by kind. */
  records: Record<string, number>;
}
