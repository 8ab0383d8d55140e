import fc from 'fast-check';
import { unpack } from 'msgpackr';
import { describe, expect, it } from 'vitest';
import type { Change } from '../../../src/engine/ports/queues.js';
import type { Batch, EndedLease } from '../../../src/engine/queue/batch.js';
import type { KeptDecision } from '../../../src/engine/queue/decision.js';
import {
  type ChangeRecord,
  decodeChange,
  decodeChanges,
  decodeTurn,
  encodeChanges,
  encodeTurn,
  joinChanges,
} from '../../../src/store/lmdb/codecs/batch-codec.js';

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

const LEASES: EndedLease[] = ['expired', 'returned', 'restarted', 'closed'];

/** Numbers at each limit of an encoding, and whole ones that are too large for 32 bits. */
const number = fc.oneof(fc.nat(300), fc.nat(70_000), fc.constantFrom(127, 128, 65_535, 65_536, 2 ** 32 - 1, 2 ** 32), fc.maxSafeNat());
const fraction = fc.double().map(value => (value === 0 ? 0 : value));
const text = fc.oneof(fc.uuid(), fc.string({ unit: 'grapheme', maxLength: 100 }));
const numbers = fc.array(number, { maxLength: 40 });
const cases = fc.array(fc.tuple(number, fc.array(text, { maxLength: 3 })), { maxLength: 20 });

const someBatch: fc.Arbitrary<Batch> = fc.record(
  {
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
    acknowledges: fc.constant(true as const),
    runs_before: number,
    failed: numbers,
    cases,
    failed_cases: cases,
    lease: fc.constantFrom(...LEASES),
  },
  {
    noNullPrototype: true,
    requiredKeys: [
      'seq',
      'node_index',
      'run',
      'batch_uuid',
      'handed_at',
      'files',
      'isFirstRequest',
      'isReplay',
      'build_subset_id',
      'decision',
      'delivered',
    ],
  },
);
const someDelivery = fc.record({ delivered_seq: number }, { noNullPrototype: true });
const someChanges = fc.array(
  fc.oneof({ weight: 5, arbitrary: someBatch }, { weight: 1, arbitrary: number }, { weight: 1, arbitrary: someDelivery }),
  { maxLength: 30 },
);

describe('the changes of queues on disk', () => {
  it('are what they were, in a turn and joined by queue', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.tuple(
            text,
            someChanges.map(changes => changes as Change[]),
          ),
          { maxLength: 3 },
        ),
        queues => {
          const turn = queues.flatMap(([queue, changes]) => changes.map((change): [string, Change] => [queue, change]));
          const { payload, changes } = encodeTurn(turn);
          expect(decodeTurn(payload)).toStrictEqual(turn);
          expect(changes.map(([queue]) => queue)).toEqual(turn.map(([queue]) => queue));
          const all = turn.map(([, change]) => change);
          const joined = joinChanges(changes.map(([, change]) => change));
          expect(joined).toEqual(encodeChanges(all));
          expect(decodeChanges(joined)).toStrictEqual(all);
          // As LMDB decodes them.
          expect((unpack(joined) as ChangeRecord[]).map(decodeChange)).toStrictEqual(all);
        },
      ),
      { numRuns: 50 },
    );
  });

  it('keep a batch of all files of a large suite', () => {
    const large = { ...batch, files: Array.from({ length: 200_000 }, (_, file) => file), batch_uuid: 'ü'.repeat(4096) };
    const { payload, changes } = encodeTurn([
      ['a', batch],
      ['b', large],
      ['a', 7],
    ]);
    expect(decodeTurn(payload)).toEqual([
      ['a', batch],
      ['b', large],
      ['a', 7],
    ]);
    expect(decodeChanges(joinChanges([changes[1]![1]]))).toEqual([large]);
  });

  it('have text that is no valid UTF-16 as the nearest valid text', () => {
    expect(decodeChanges(encodeChanges([{ ...batch, batch_uuid: 'a\ud800b' }]))).toEqual([{ ...batch, batch_uuid: 'a\ufffdb' }]);
  });

  it('stay as they are while later ones are encoded', () => {
    const turns = Array.from({ length: 2000 }, (_, seq) => encodeTurn([['a', { ...batch, seq }]]));
    expect(turns.map(({ payload }) => decodeTurn(payload)[0]![1])).toEqual(turns.map((_, seq) => ({ ...batch, seq })));
  });
});
