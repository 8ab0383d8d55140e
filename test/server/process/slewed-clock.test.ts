import { describe, expect, it } from 'vitest';
import { SlewedClock } from '../../../src/server/process/sweeping.js';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

function clocks() {
  let now = Date.UTC(2026, 0, 1);
  let uptime = 500;
  const clock = new SlewedClock(
    () => now,
    () => uptime,
  );
  const set = (by: number) => (now += by);
  const pass = (time: number) => {
    set(time);
    uptime += time;
  };
  return { clock, pass, set, now: () => now };
}

describe('a slewed clock', () => {
  it('follows the first hour of a step forward immediately, then a day per hour, until it reaches the clock', () => {
    const { clock, pass, set, now } = clocks();
    pass(DAY);
    const before = clock.time();
    set(200 * DAY);
    expect(clock.time()).toBe(before + HOUR);
    pass(HOUR);
    expect(clock.time()).toBe(before + DAY + HOUR);
    for (let day = 1; day < 199; day++) {
      pass(HOUR);
      expect(clock.time()).toBeLessThan(now());
    }
    pass(DAY);
    expect(clock.time()).toBe(now());
    set(300 * DAY);
    set(-300 * DAY);
    expect(clock.time()).toBe(now());
  });

  it('does not follow a clock that is ahead at each of many starts', () => {
    const stored = Date.UTC(2026, 0, 1);
    let reached = stored;
    for (let start = 0; start < 100; start++) {
      const clock = new SlewedClock(
        () => Date.UTC(2036, 0, 1),
        () => 0,
        reached,
      );
      expect(clock.time()).toBe(stored + HOUR);
      reached = clock.reached;
    }
  });

  it('is not behind if the clock was behind at the start and set later', () => {
    const stored = Date.UTC(2026, 0, 1);
    let now = 0;
    const clock = new SlewedClock(
      () => now,
      () => 0,
      stored,
    );
    expect(clock.time()).toBe(0);
    now = stored + HOUR / 2;
    expect(clock.time()).toBe(now);
  });

  it('follows a step back', () => {
    const { clock, set, now } = clocks();
    set(-400 * DAY);
    expect(clock.time()).toBe(now());
  });
});
