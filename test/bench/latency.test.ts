import { describe, expect, it } from 'vitest';
import { type LatencyRound, latency, latencyCells } from '../../bench/latency.js';

/** A round of two seconds, in which the p99 of the bare handler is half of ours. */
function round(p99Milliseconds: number, rate = 1000): LatencyRound {
  const cpu = { all: 1, kernel: 0, main: 0.5, starved: 0.1 };
  const outcome = (p99: number, rate: number) => {
    const latencies = { p50Milliseconds: p99 / 2, p99Milliseconds: p99, p999Milliseconds: 2 * p99 };
    return { ...latencies, rate, failures: 0, seconds: 2, meanAnswerBytes: 1, next: 0, cpu };
  };
  return { ours: outcome(p99Milliseconds, rate), bare: outcome(p99Milliseconds / 2, 1000) };
}

describe('the benchmark of latencies', () => {
  it('shows both sides of the round with the median p99, and the range of all', () => {
    expect(latencyCells(1000, [round(9), round(2), round(4)])).toEqual([
      ...['2.00', '4.00', '8.00', '2.00 - 9.00'],
      ...['1.00', '2.00', '4.00'],
      ...['1000', '1000', '25/30', '25/30'],
    ]);
  });

  it.each([
    [980, '980'],
    [979, 'void, 979'],
  ])('says whether the rate was kept, of 1,000 requests per second with %i', (rate, expected) => {
    expect(latencyCells(1000, [round(1, rate)])[7]).toBe(expected);
  });

  it('measures a request beside the bare handler, at each rate', async () => {
    const [result] = await latency(['recording'], { seconds: 0.6, rates: [10, 40] });
    expect(result!.rows.map(row => row.slice(0, 2))).toEqual([
      ['recording', '10'],
      ['recording', '40'],
    ]);
    for (const row of result!.rows) for (const cell of row.slice(2, 5)) expect(Number(cell)).toBeGreaterThan(0);
  });

  it('refuses a request that it does not know', async () => {
    await expect(latency(['pull'], { seconds: 1 })).rejects.toThrow(/no request "pull": choose from pulls, splits, recording/);
  });
});
