import type { Batch, CasesByFile, EndedLease } from '../../../engine/queue/batch.js';
import type { KeptDecision } from '../../../engine/queue/decision.js';

/** A batch below store version 11, a map in msgpack. */
export interface OldBatchRecord {
  v: 1;
  seq: number;
  node_index: number;
  run: string;
  batch_uuid: string | null;
  handed_at: number;
  files: number[];
  /** `Batch.isFirstRequest` */
  starts: boolean;
  /** `Batch.isReplay` */
  again: boolean;
  build_subset_id: string | null;
  acknowledges?: true;
  /** Missing below store version 7. */
  runs_before?: number;
  delivered: boolean;
  /** Missing below store version 9. */
  decision?: KeptDecision;
  cases?: CasesByFile;
  failed?: number[];
  failed_cases?: CasesByFile;
  lease?: 'lost' | 'late' | 'restarted' | 'ended';
}

const LEASES = { lost: 'expired', late: 'returned', restarted: 'restarted', ended: 'closed' } as const satisfies Record<string, EndedLease>;

export function decodeOldBatch(record: OldBatchRecord): Batch {
  const batch: Batch = {
    seq: record.seq,
    node_index: record.node_index,
    run: record.run,
    batch_uuid: record.batch_uuid,
    handed_at: record.handed_at,
    files: record.files,
    isFirstRequest: record.starts,
    isReplay: record.again,
    build_subset_id: record.build_subset_id,
    decision: record.decision ?? null,
    delivered: record.delivered,
  };
  if (record.acknowledges) batch.acknowledges = true;
  if (record.runs_before !== undefined) batch.runs_before = record.runs_before;
  if (record.cases) batch.cases = record.cases;
  if (record.failed) batch.failed = record.failed;
  if (record.failed_cases) batch.failed_cases = record.failed_cases;
  if (record.lease) batch.lease = LEASES[record.lease];
  return batch;
}
