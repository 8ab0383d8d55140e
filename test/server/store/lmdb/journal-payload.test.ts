import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { buildDigest } from '../../../../src/server/engine/keys.js';
import type { Batch, EndedLease, KeptDecision } from '../../../../src/server/engine/queue/batch.js';
import { decodeChange, encodeChange } from '../../../../src/server/store/codecs/queue-changes.js';
import { decodePayload, encodePayload } from '../../../../src/server/store/lmdb/codecs/journal-record.js';

const text = fc.oneof(fc.uuid(), fc.string({ unit: 'grapheme', maxLength: 100 }));
/** Numbers at each limit of an encoding, and whole ones that are too large for 32 bits. */
const number = fc.oneof(fc.nat(300), fc.nat(70_000), fc.constantFrom(127, 128, 65_535, 65_536, 2 ** 32 - 1, 2 ** 32), fc.maxSafeNat());
const fraction = fc.double().map(value => (value === 0 ? 0 : value));
const numbers = fc.array(number, { maxLength: 40 });
const cases = fc.array(fc.tuple(number, fc.array(text, { maxLength: 3 })), { maxLength: 20 });
const LEASES: EndedLease[] = ['expired', 'returned', 'restarted', 'cancelled', 'closed'];

const needed = {
  seq: number,
  node_index: number,
  run: text,
  batch_uuid: fc.option(text),
  handed_at: number,
  files: numbers,
  isFirstRequest: fc.boolean(),
  isReplay: fc.boolean(),
  build_subset_id: fc.option(text),
  decision: fc.option(fc.array(fc.oneof(number, fraction), { minLength: 7, maxLength: 7 })) as fc.Arbitrary<KeptDecision | null>,
  delivered: fc.boolean(),
};
const optional = {
  acknowledges: fc.constant(true as const),
  runs_before: number,
  failed: numbers,
  cases,
  failed_cases: cases,
  lease: fc.constantFrom(...LEASES),
  cancelled_at: number,
  heartbeats: fc.constant(true as const),
  times: numbers,
  kept: numbers,
};
const plain = { noNullPrototype: true } as const;
const batch: fc.Arbitrary<Batch> = fc.record(
  { ...needed, ...optional },
  { ...plain, requiredKeys: Object.keys(needed) as (keyof typeof needed)[] },
);
const acknowledgement = fc.record(
  { acknowledged_seq: number, failed: numbers, failed_cases: cases, times: numbers },
  { ...plain, requiredKeys: ['acknowledged_seq', 'failed'] },
);
const notes = [fc.record({ delivered_seq: number }, plain), acknowledgement];
const change = fc.oneof({ weight: 5, arbitrary: batch }, { weight: 1, arbitrary: number }, ...notes);

const bytes = fc.uint8Array({ maxLength: 400 }).map(array => Buffer.from(array));
const build = fc.record({ commit_hash: text, branch: text, node_total: fc.nat(10_000), node_index: fc.nat(10_000) }, plain);
const columns = {
  id: fc.uuid(),
  created_at: fc.nat(2 ** 42),
  ordinal: fc.constant(0),
  ci_run: number,
  asked_at: fc.option(number),
  has_no_test: fc.boolean(),
  times: bytes,
};
const run = fc
  .record({
    project: fc.nat(),
    key: build,
    hasTestCases: fc.boolean(),
    isRetry: fc.boolean(),
    entry: number,
    run: fc.record(columns, plain),
  })
  .map(fields => ({ ...fields, build: buildDigest(fields.project, fields.key) }));

describe('a payload of the journal', () => {
  it('is the same when it is decoded', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(text, change), { maxLength: 60 }), fc.array(run, { maxLength: 3 }), (changes, runs) => {
        const payload = decodePayload(encodePayload({ changes: changes.map(([queue, one]) => [queue, encodeChange(one)]), runs }));
        expect(payload.changes.map(([queue, one]) => [queue, decodeChange(one)])).toStrictEqual(changes);
        expect(payload.runs).toEqual(runs);
      }),
      { numRuns: 50 },
    );
  });

  it('may have a batch of all files of a large suite', () => {
    const [one] = fc.sample(batch, 1);
    const large = { ...one!, files: Array.from({ length: 200_000 }, (_, file) => file), batch_uuid: 'ü'.repeat(4096) };
    expect(decodeChange(encodeChange(large))).toEqual(large);
  });

  it('stays as it is while later changes are encoded', () => {
    const [one] = fc.sample(batch, 1);
    const changes = Array.from({ length: 2000 }, (_, seq) => encodeChange({ ...one!, seq }));
    expect(changes.map(decodeChange)).toEqual(changes.map((_, seq) => ({ ...one!, seq })));
  });
});
