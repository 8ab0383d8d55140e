import { Packr } from 'msgpackr';
import type { Change, Delivery } from '../../../src/engine/ports/queues.js';
import type { Batch } from '../../../src/engine/queue/batch.js';
import type { OldBatchRecord } from '../../../src/store/lmdb/codecs/old-batches.js';

const LEASES = { expired: 'lost', returned: 'late', restarted: 'restarted', closed: 'ended' } as const;

/** What store versions 5 to 11 had. */
type OldChange = Exclude<Change, Delivery>;

/** A change as store versions 5 to 10 have it. */
export function oldChange(change: OldChange): OldBatchRecord | number {
  return typeof change === 'number' ? change : oldBatch(change);
}

function oldBatch({ isFirstRequest, isReplay, decision, lease, ...batch }: Batch): OldBatchRecord {
  return {
    v: 1,
    ...batch,
    starts: isFirstRequest,
    again: isReplay,
    ...(decision && { decision }),
    ...(lease && { lease: LEASES[lease] }),
  };
}

/** The changes of a turn as the journal of version 10 has them. */
export function oldTurn(...turn: [queue: string, change: OldChange][]): Buffer {
  return new Packr({}).pack(turn.map(([queue, change]) => [queue, oldChange(change)]));
}

/** The changes of a queue as checkpoints of versions 5 to 10 wrote them. */
export function oldChanges(...changes: OldChange[]): Buffer {
  return new Packr({}).pack(changes.map(oldChange));
}
