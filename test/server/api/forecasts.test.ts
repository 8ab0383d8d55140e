import { describe, expect } from 'vitest';
import { queueKey } from '../../../src/server/engine/keys.js';
import { buildKey, initialise, record, timedTestFiles } from '../../harness/messages.js';
import { SharedServer, testsWith } from '../../harness/server.js';

const shared = new SharedServer();
const it = testsWith(shared);

const seconds = { 'a_spec.rb': 30, 'b_spec.rb': 6, 'c_spec.rb': 5, 'd_spec.rb': 4 };

describe('the forecast', () => {
  it('of a queue includes the cost of pulls', async ({ server }) => {
    await record(server, { test_files: timedTestFiles(seconds) });
    await initialise(server, [...Object.keys(seconds), 'new_spec.rb']);
    const queue = await shared.store.queues.find(queueKey(server.id, buildKey, '100'));
    const forecast = (await shared.store.plans.part(queue!.id, 'forecast'))!;
    // The new file is taken for one as slow as the slowest: no file binds two nodes any more.
    expect(forecast).toMatchObject({ unknown_files: 1, binding_files: [] });
    expect(forecast.lower_bound).toBeGreaterThanOrEqual(30);
    expect(forecast.makespan).toBeGreaterThanOrEqual(forecast.lower_bound + 2);
    expect(forecast.ratio).toBeCloseTo(forecast.makespan / forecast.lower_bound, 10);
  });
});
