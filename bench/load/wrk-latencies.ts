/** Latencies in whole microseconds: how many requests took each one. */
export type Latencies = ReadonlyMap<number, number>;

/**
 * Returns the latencies that wrk measured. wrk corrects them for requests that a constant rate would have sent during a slow answer: to each
 * one of at least twice the mean it adds one at each multiple of the mean below it. A closed loop sends none there.
 *
 * @param mean as wrk computes it, see `meanLatency`
 */
export function withoutCorrection(corrected: Latencies, mean: number): Latencies {
  const measured = new Map<number, number>();
  for (const [microseconds, count] of corrected) {
    const added = microseconds > mean ? (corrected.get(microseconds + mean) ?? 0) : 0;
    if (count > added) measured.set(microseconds, count - added);
  }
  return measured;
}

/** wrk's `interval` in microseconds; Infinity: it corrects nothing. */
export function meanLatency(answers: number, microseconds: number, connections: number): number {
  const rotations = Math.floor(answers / connections);
  return rotations === 0 ? Infinity : Math.floor(microseconds / rotations);
}

/** The smallest latency that `percent` of the requests do not exceed; 0 without requests. */
export function percentile(latencies: Latencies, percent: number): number {
  const ascending = [...latencies].sort(([a], [b]) => a - b);
  const rank = (percent / 100) * ascending.reduce((sum, [, count]) => sum + count, 0);
  let below = 0;
  return ascending.find(([, count]) => (below += count) >= rank)?.[0] ?? 0;
}
