import fc from 'fast-check';
import { expect, it } from 'vitest';
import { commonBytes } from '../src/bytes.js';

it('counts the bytes that two texts have in common, from any place on', () => {
  const text = fc.uint8Array({ minLength: 1, maxLength: 3000 });
  fc.assert(
    fc.property(text, fc.nat(2000), fc.array(fc.nat(2999), { maxLength: 2 }), (bytes, before, changes) => {
      const one = Buffer.from(bytes);
      const other = Buffer.concat([Buffer.alloc(before), one]);
      for (const at of changes) if (at < one.length) other[before + at]! ^= 1;
      const first = one.findIndex((byte, at) => byte !== other[before + at]);
      expect(commonBytes(one, 0, other, before)).toBe(first < 0 ? one.length : first);
    }),
    { seed: 20_260_201, numRuns: 300 },
  );
});
