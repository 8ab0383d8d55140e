import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Change } from '../../../src/engine/ports/queues.js';
import type { Batch, EndedLease } from '../../../src/engine/queue/batch.js';
import type { KeptDecision } from '../../../src/engine/queue/decision.js';
import { decodeChange, decodeTurn, encodeChange, encodeTurn, type QueueChange } from '../../../src/store/lmdb/codecs/batch-codec.js';

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

const encoded = (turn: readonly (readonly [string, Change])[]) => turn.map(([queue, change]): QueueChange => [queue, encodeChange(change)]);

describe('the changes of queues on disk', () => {
  it('are what they were, in a turn', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(text, someChanges), { maxLength: 3 }), queues => {
        const turn = queues.flatMap(([queue, changes]) => changes.map((change): [string, Change] => [queue, change as Change]));
        const decoded = decodeTurn(encodeTurn(encoded(turn)));
        expect(decoded.map(([queue, change]) => [queue, decodeChange(change)])).toStrictEqual(turn);
      }),
      { numRuns: 50 },
    );
  });

  it('keep a batch of all files of a large suite', () => {
    const large = { ...batch, files: Array.from({ length: 200_000 }, (_, file) => file), batch_uuid: 'ü'.repeat(4096) };
    const [, [, change]] = decodeTurn(
      encodeTurn(
        encoded([
          ['a', 7],
          ['b', large],
        ]),
      ),
    ) as [QueueChange, QueueChange];
    expect(decodeChange(change)).toEqual(large);
  });

  it('stay as they are while later ones are encoded', () => {
    const changes = Array.from({ length: 2000 }, (_, seq) => encodeChange({ ...batch, seq }));
    expect(changes.map(decodeChange)).toEqual(changes.map((_, seq) => ({ ...batch, seq })));
  });
});
