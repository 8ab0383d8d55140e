import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BLOCK_BYTES, encodeRecord, recordsIn } from '../../../../src/server/store/lmdb/codecs/journal-record.js';

const JOURNAL = 0x1234_5678_9abc;
const NO_ROOM = Buffer.alloc(0);

const encode = (number: number, payloads: readonly Uint8Array[], journal = JOURNAL) => encodeRecord(journal, number, payloads, NO_ROOM);
const text = (size: number, fill = 'x') => Buffer.alloc(size, fill);
const numbersIn = (file: Buffer, after = 0) => Array.from(recordsIn(file, JOURNAL, after), ({ number }) => number);

describe('the records of a journal', () => {
  it('are read back with their payloads, whatever their size, and take whole blocks', () => {
    const payloads = fc.array(fc.uint8Array({ maxLength: 6000 }), { minLength: 1, maxLength: 4 });
    const test = (records: Uint8Array[][], room: number) => {
      const encoded = records.map((all, i) => Buffer.from(encodeRecord(JOURNAL, i + 1, all, Buffer.alloc(room, 7))));
      for (const { length } of encoded) expect(length % BLOCK_BYTES).toBe(0);
      const found = [...recordsIn(Buffer.concat(encoded), JOURNAL, 0)];
      expect(found.map(({ payloads }) => payloads.map(bytes => [...bytes]))).toEqual(records.map(all => all.map(bytes => [...bytes])));
      expect(found.map(({ end }) => end)).toEqual(encoded.map((_, i) => Buffer.concat(encoded.slice(0, i + 1)).length));
    };
    fc.assert(fc.property(fc.array(payloads, { maxLength: 4 }), fc.nat(16_384), test), { numRuns: 50 });
  });

  it.each([
    ['nothing', NO_ROOM],
    ['zeros', Buffer.alloc(3 * BLOCK_BYTES)],
    ['an older record', encode(1, [text(9000, 'o')])],
    ['a smaller older record', encode(1, [text(10, 'o')])],
  ])('are ignored when they are torn at any byte, over %s', (_, behind) => {
    const first = encode(7, [text(100)]);
    const tear = (torn: Buffer, kept: number) => {
      const file = Buffer.concat([first, torn.subarray(0, kept), behind.subarray(kept)]);
      expect(numbersIn(file, 6), `${kept} bytes`).toEqual([7]);
    };
    const small = encode(8, [text(60, 'a'), text(20, 'b')]);
    // Zeros behind the content are the same as those that it had.
    for (let kept = 0; kept < 36 + 4 + 60 + 4 + 20; kept++) tear(small, kept);
    const large = encode(8, [text(9000, 'a')]);
    for (let kept = 0; kept < 36 + 4 + 9000; kept += 61) tear(large, kept);
    for (const whole of [small, large]) expect(numbersIn(Buffer.concat([first, whole]), 6)).toEqual([7, 8]);
  });

  it('are ignored when a byte of them is damaged, and those behind are found', () => {
    const [first, second] = [encode(1, [text(300)]), encode(2, [text(300)])];
    for (let at = 0; at < 340; at++) {
      const damaged = Buffer.from(first);
      damaged[at]! ^= 1;
      expect(numbersIn(Buffer.concat([damaged, second])), `byte ${at}`).toEqual([2]);
    }
  });

  it('are ignored when they are no longer needed, or of another journal', () => {
    const file = Buffer.concat([encode(4, [text(5000)]), encode(5, [text(1)]), encode(6, [text(1)], JOURNAL + 1)]);
    expect(numbersIn(file, 4)).toEqual([5]);
  });
});
