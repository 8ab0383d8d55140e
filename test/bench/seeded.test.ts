import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listing } from '../../bench/listing.js';
import { SeededFolders } from '../../bench/load/seeded-folders.js';
import { starting } from '../../bench/starting.js';
import { sweeping } from '../../bench/sweeping.js';

const MANY = 300;
const FEW = 200;

/** Runs the trials on seeded folders with few records. */
describe('a benchmark on a seeded folder', () => {
  const seeds = new SeededFolders();
  beforeAll(async () => {
    for (const builds of [MANY, FEW]) await seeds.withBuilds(builds);
  }, 120_000);
  afterAll(() => seeds.remove());

  it('compares lists of many builds with lists of few', async () => {
    const [result] = await listing({ builds: MANY, fewBuilds: FEW, seconds: 0, amount: 4 }, seeds);
    expect(result!.rows).toHaveLength(7);
    for (const row of result!.rows) {
      for (const cell of [...row.slice(1, 4), ...row.slice(5, 8)]) expect(Number(cell)).toBeGreaterThan(0);
      expect(row[9]).toMatch(/^(void.*|\d+\.\d\d)$/);
    }
  });

  it('measures the start with an empty folder and with a full one', async () => {
    const [result] = await starting({ builds: MANY, times: 1 }, seeds);
    expect(result!.rows.map(([name]) => name)).toEqual(['empty', '300 builds, 3 open queues']);
    for (const row of result!.rows) expect(Number(row[1])).toBeGreaterThan(0);
  });

  it('measures requests until all expired records are deleted', async () => {
    const [result] = await sweeping({ records: 100, queues: 4, seconds: 0.2 });
    const pulls = result!.head.indexOf('pulls');
    expect(Number(result!.rows[1]![pulls])).toBeGreaterThan(0);
    expect(result!.legend).toMatch(/100 records/);
  });
});
