import fc from 'fast-check';
import { expect, it } from 'vitest';
import { nthSmallest } from '../../../src/planning/estimating/median.js';

it('the nth smallest value is the one at that index of the sorted values, with equal ones, too', () => {
  // 0 and -0 are equal, and either may stand at an index between them.
  const number = fc.double({ noNaN: true }).map(value => value + 0);
  const values = fc.oneof(fc.array(number, { minLength: 1 }), fc.array(fc.nat(3), { minLength: 1, maxLength: 50 }));
  fc.assert(
    fc.property(values, fc.nat(), (list, at) => {
      const index = at % list.length;
      expect(nthSmallest(Float64Array.from(list), index)).toBe(Float64Array.from(list).sort()[index]);
    }),
  );
});
