import { describe, expect, it } from 'vitest';
import type { Batch, EndedLease } from '../../../src/engine/queue/batch.js';
import type { KeptDecision } from '../../../src/engine/queue/decision.js';
import { type BatchRecord, decodeChange, encodeBatch, encodeChange } from '../../../src/store/lmdb/codecs/batch-codec.js';

const batch: Batch = {
  seq: 7,
  node_index: 2,
  run: 'run',
  batch_uuid: null,
  handed_at: 1,
  files: [3, 4],
  isFirstRequest: true,
  isReplay: false,
  build_subset_id: 'subset',
  decision: null,
  delivered: false,
};

/** As every Ballast since version 5 of the store writes it. */
const record: BatchRecord = {
  v: 1,
  seq: 7,
  node_index: 2,
  run: 'run',
  batch_uuid: null,
  handed_at: 1,
  files: [3, 4],
  starts: true,
  again: false,
  build_subset_id: 'subset',
  delivered: false,
};

describe('a batch on disk', () => {
  it('has the fields that older versions read, and no others', () => {
    expect(encodeBatch(batch)).toStrictEqual(record);
    expect(decodeChange(record)).toStrictEqual(batch);
  });

  it('keeps each optional field', () => {
    const optional = {
      acknowledges: true as const,
      runs_before: 0,
      decision: [240_000, 60_000, 900, 1100, 48_000, 28_800, 2000] as KeptDecision,
      cases: [[3, ['a:1']]] as [number, string[]][],
      failed: [],
      failed_cases: [[4, ['b:2']]] as [number, string[]][],
    };
    expect(encodeBatch({ ...batch, ...optional })).toStrictEqual({ ...record, ...optional });
    expect(decodeChange({ ...record, ...optional })).toStrictEqual({ ...batch, ...optional });
  });

  it.each<[EndedLease, BatchRecord['lease']]>([
    ['expired', 'lost'],
    ['returned', 'late'],
    ['restarted', 'restarted'],
    ['closed', 'ended'],
  ])('has the lease %s as %s', (inMemory, onDisk) => {
    expect(encodeBatch({ ...batch, lease: inMemory }).lease).toBe(onDisk);
    expect(decodeChange({ ...record, lease: onDisk! })).toStrictEqual({ ...batch, lease: inMemory });
  });

  it('is only its seq if it was taken back', () => {
    expect([encodeChange(7), decodeChange(7)]).toEqual([7, 7]);
  });
});
