import { describe, expect, it } from 'vitest';
import { DailyBytes } from '../../src/engine/daily-bytes.js';

const DAY = 86_400_000;
const refusal = expect.objectContaining({
  reason: 'daily bytes',
  message: expect.stringContaining('this project has stored 100 bytes today, as much as') as string,
}) as Error;

describe('the bytes that projects store in a day', () => {
  it('are bounded for each project by itself, until the next day', () => {
    const stored = new DailyBytes(100);
    stored.add(1, 99, 5);
    stored.assertRoom(1, 6);
    stored.add(1, 1, 7);
    expect(() => stored.assertRoom(1, DAY - 1)).toThrow(refusal);
    stored.assertRoom(2, DAY - 1);
    expect(stored.fullProjects).toBe(1);
    stored.assertRoom(1, DAY);
    stored.add(1, 99, DAY + 1);
    stored.assertRoom(1, DAY + 2);
    expect(stored.fullProjects).toBe(0);
  });

  it('have no bound when it is 0', () => {
    const stored = new DailyBytes(0);
    stored.add(1, Number.MAX_SAFE_INTEGER, 0);
    stored.assertRoom(1, 0);
    expect(stored.fullProjects).toBe(0);
  });
});
