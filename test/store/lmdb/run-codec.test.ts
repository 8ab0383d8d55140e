import fc from 'fast-check';
import { expect, it } from 'vitest';
import { buildDigest } from '../../../src/engine/keys.js';
import { decodeRun, encodeRun, isRun } from '../../../src/store/lmdb/codecs/run-codec.js';
import { newSubset, setTime, subsetHead, timesOf } from '../../../src/store/lmdb/codecs/subset-codec.js';
import type { NewSubset } from '../../../src/store/lmdb/writes/put-subsets.js';

const text = fc.string({ unit: 'grapheme', maxLength: 300 });

it('a run in the journal is the same when it is decoded', () => {
  fc.assert(
    fc.property(
      fc.record({ commit_hash: text, branch: text, node_total: fc.nat(10_000), node_index: fc.nat(10_000) }),
      fc.record({ project: fc.nat(), hasTestCases: fc.boolean(), isRetry: fc.boolean(), at: fc.nat(2 ** 42), entry: fc.nat(2 ** 50) }),
      fc.array(fc.tuple(fc.nat(), fc.double({ noNaN: true })), { maxLength: 50 }),
      (key, fields, files) => {
        const bytes = newSubset({ created_at: fields.at, ciRun: 5 }, files.length);
        for (const [i, [path, seconds]] of files.entries()) setTime(timesOf(bytes), i, path, seconds);
        const run: NewSubset = { ...fields, key, build: buildDigest(fields.project, key), bytes };
        const payload = encodeRun(run);
        expect(isRun(payload)).toBe(true);
        expect(decodeRun(payload)).toEqual(run);
        expect(subsetHead(bytes).id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
      },
    ),
  );
});
