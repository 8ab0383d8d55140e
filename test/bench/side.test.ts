import { describe, expect, it } from 'vitest';
import { busyCell, cpuMicroseconds, isVoid, ratioCell, type SideResult } from '../../bench/load/side.js';

/** A load of ten seconds. Shares are those of a core. */
function side(shares: { server: number; generator: number; starved?: number; answers?: number }) {
  const { server, generator, starved = 0, answers = 1000 } = shares;
  const cpu = (share: number, starved = 0) => ({ all: 10 * share, kernel: 0, main: 10 * share, starved: 10 * starved });
  const latencies = { p50Milliseconds: 1, p99Milliseconds: 2 };
  const outcome = { answers, failures: 0, seconds: 10, ...latencies, meanAnswerBytes: 0, next: 0 };
  return { ...outcome, cpu: cpu(generator, starved), server: cpu(server) } satisfies SideResult;
}

const clean = side({ server: 0.5, generator: 0.3, answers: 1000 });
const limited = side({ server: 0.5, generator: 0.95, answers: 4000 });

describe('a side of a comparison', () => {
  it.each([
    ['a generator with time to spare', { server: 0.99, generator: 0.9 }, false],
    ['a generator above 0.9 of a core beside a server that waits', { server: 0.5, generator: 0.91 }, true],
    ['a generator that would be above it with a core to itself', { server: 0.5, generator: 0.5, starved: 0.45 }, true],
    ['a generator above it and a server that ran longer', { server: 0.98, generator: 0.95 }, false],
    ['a server above it and a generator that ran longer', { server: 0.95, generator: 0.98 }, true],
    ['a server that ran longer than a starved generator, below it', { server: 0.6, generator: 0.5, starved: 0.45 }, true],
  ])('knows whether the generator was the limit: %s', (_situation, shares, expected) => {
    expect(isVoid(side(shares))).toBe(expected);
  });

  it('says what is known of a ratio where a generator was the limit', () => {
    const bare = side({ server: 0.98, generator: 0.8, answers: 4000 });
    expect(ratioCell(clean, bare)).toBe('0.25');
    expect(ratioCell(clean, limited)).toBe('void, at most 0.25');
    expect(ratioCell(limited, bare)).toBe('void, at least 1.00');
    expect(ratioCell(limited, limited)).toBe('void');
  });

  it('has its processor time per answer and its busy share', () => {
    expect(cpuMicroseconds(clean)).toBeCloseTo(5000);
    expect(busyCell({ all: 0, kernel: 0, main: 4, starved: 2 }, 10)).toBe('40/60');
    expect(busyCell({ all: 0, kernel: 0, main: 0, starved: 0 }, 10)).toBe('unknown');
  });
});
