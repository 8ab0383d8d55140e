import { describe, expect, it } from 'vitest';
import { patternOf } from '../../../../src/server/insight/trends/node-trends.js';
import { normal, seededRandom } from '../../../testbed/random.js';

const seed = 20_261_122;
const builds = (count: number, slowness: number) => Array.from({ length: count }, () => slowness);

describe('a node', () => {
  it('is slow when it was in so many builds that it is no chance', () => {
    expect(patternOf(builds(12, 1.2), 8)).toMatchObject({ is_slow: true, median: 1.2, slow_builds: 12 });
    // Too few builds, too little, too seldom.
    expect(patternOf(builds(6, 1.2), 8).is_slow).toBe(false);
    expect(patternOf(builds(50, 1.05), 8).is_slow).toBe(false);
    expect(patternOf([...builds(9, 3), ...builds(11, 1)], 8)).toMatchObject({ is_slow: false, slow_builds: 9 });
    expect(patternOf([null, null], 8)).toEqual({ slowness: [null, null], median: null, is_slow: false, slow_builds: 0 });
  });

  it('is called slow in fewer than one of 100 projects with equal runners', () => {
    const random = seededRandom(seed);
    const alarms = Array.from({ length: 400 }, () =>
      Array.from({ length: 8 }, () =>
        patternOf(
          Array.from({ length: 20 }, () => Math.exp(0.25 * normal(random))),
          8,
        ),
      ).some(({ is_slow }) => is_slow),
    );
    expect(alarms.filter(Boolean).length).toBeLessThan(4);
  });
});
