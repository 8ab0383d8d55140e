import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SeededFolders } from '../../bench/load/seeded-folders.js';
import { starting } from '../../bench/starting.js';

const MANY = 300;

/** Runs the trials on seeded folders with few records. */
describe('a benchmark on a seeded folder', () => {
  const seeds = new SeededFolders();
  beforeAll(async () => {
    await seeds.withBuilds(MANY);
  }, 120_000);
  afterAll(() => seeds.remove());

  it('measures the start with an empty folder and with a full one', async () => {
    const [result] = await starting({ builds: MANY, times: 1 }, seeds);
    expect(result!.rows.map(([name]) => name)).toEqual(['node -e 0', 'empty', '300 builds, 3 open queues']);
    for (const row of result!.rows) expect(Number(row[1])).toBeGreaterThan(0);
  });
});
