import { describe, expect, it } from 'vitest';
import { SteadyClock } from '../src/steady-clock.js';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

function clocks() {
  let now = Date.UTC(2026, 0, 1);
  let uptime = 500;
  const clock = new SteadyClock(
    () => now,
    () => uptime,
  );
  return { clock, pass: (time: number) => ((now += time), (uptime += time)), set: (by: number) => (now += by), now: () => now };
}

describe('a steady clock', () => {
  it('follows the time as it passes', () => {
    const { clock, pass, now } = clocks();
    pass(100 * DAY);
    expect(clock.time()).toBe(now());
  });

  it('does not follow a jump ahead, but for an hour, and is right again when the clock is', () => {
    const { clock, pass, set, now } = clocks();
    pass(DAY);
    const before = now();
    set(200 * DAY);
    expect(clock.time()).toBe(before + HOUR);
    pass(DAY);
    expect(clock.time()).toBe(before + DAY + HOUR);
    set(-200 * DAY);
    expect(clock.time()).toBe(now());
  });

  it('follows a jump back', () => {
    const { clock, set, now } = clocks();
    set(-400 * DAY);
    expect(clock.time()).toBe(now());
  });
});
