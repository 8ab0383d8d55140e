import { Histogram as PromHistogram, Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';
import { Histogram } from '../../../src/server/process/metrics.js';

const BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

describe('a histogram', () => {
  it("has the text of prom-client's own, for durations in, between and beyond the buckets", async () => {
    const [ours, theirs] = [new Registry(), new Registry()];
    const [name, help] = ['ballast_test_seconds', 'Durations.'];
    const durations = new Histogram(ours, name, help).with({ endpoint: '/v1/"x"', status: '200' });
    const reference = new PromHistogram({ name, help, labelNames: ['endpoint', 'status'], buckets: BUCKETS, registers: [theirs] });
    for (const seconds of [0, 0.0005, 0.00050001, 0.3, 29, 30, 31, 1e9]) {
      durations.observe(seconds);
      reference.labels('/v1/"x"', '200').observe(seconds);
    }
    expect(await ours.metrics()).toBe(await theirs.metrics());
  });
});
