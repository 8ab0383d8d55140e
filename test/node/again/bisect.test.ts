import { describe, expect, it } from 'vitest';
import { bisect } from '../../../src/node/again/bisect.js';

const numbers = (count: number) => Array.from({ length: count }, (_, i) => i);

/** Bisects with a test file that fails as `fails` says. Counts its runs. */
async function run(candidates: number[][], fails: (files: readonly number[], run: number) => boolean) {
  let runs = 0;
  const found = await bisect(candidates, async files => fails(files, ++runs));
  return { found, runs };
}

describe('a bisect', () => {
  it('finds each of 2,080 planted files among those before another, in at most 2 + 2 log2(n) runs', async () => {
    for (const count of numbers(65).slice(1))
      for (const planted of numbers(count)) {
        const { found, runs } = await run([numbers(count), numbers(count + 9)], files => files.includes(planted));
        expect({ count, found }).toEqual({ count, found: [planted] });
        expect({ count, runs, isWithin: runs <= 2 + 2 * Math.log2(count) }).toMatchObject({ isWithin: true });
      }
  });

  it('finds one among other candidates, where the runner chooses the order', async () => {
    expect(await run([numbers(4), numbers(16)], files => files.includes(11))).toMatchObject({ found: [11] });
  });

  it('ends after one run if the file fails alone', async () => {
    expect(await run([numbers(9)], () => true)).toEqual({ found: [], runs: 1 });
  });

  it.each([
    ['with no candidate', [], 1],
    ['with any candidates', [numbers(9), numbers(20)], 3],
  ])('says that the file does not fail %s', async (_, candidates, runs) => {
    expect(await run(candidates, () => false)).toEqual({ found: null, runs });
  });

  it('returns the smallest list found when it takes two files', async () => {
    const takes = (...planted: number[]) => run([numbers(16)], files => planted.every(file => files.includes(file)));
    expect(await takes(1, 3)).toEqual({ found: [0, 1, 2, 3], runs: 6 });
    expect(await takes(3, 12)).toEqual({ found: numbers(16), runs: 4 });
  });

  it('returns the smallest list found when the failure does not come each time', async () => {
    expect(await run([numbers(16)], (_, run) => run === 2 || run === 3)).toEqual({ found: numbers(8), runs: 5 });
  });
});
