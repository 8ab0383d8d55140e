import { expect, it } from 'vitest';
import { DatabaseClock } from '../../../../../src/server/store/postgresql/connection/database-clock.js';

function newClock() {
  const uptime = { at: 1000 };
  const clock = new DatabaseClock(() => uptime.at);
  clock.measured(50_000, 990, 1010);
  return { uptime, clock };
}

it('the clock is half a round trip from what the database said, and goes on', () => {
  const { uptime, clock } = newClock();
  expect(clock.now()).toBe(50_000);
  uptime.at = 1500.7;
  expect(clock.now()).toBe(50_500);
});

it('an answer that was slow changes nothing, and one that was fast only what it proves', () => {
  const { uptime, clock } = newClock();
  clock.measured(50_900, 1000, 3000);
  uptime.at = 3000;
  expect(clock.now()).toBe(52_000);
  clock.measured(52_105, 3099, 3101);
  uptime.at = 3101;
  expect(clock.now()).toBe(52_105);
});

it('a clock that is set forward is followed at once', () => {
  const { uptime, clock } = newClock();
  clock.measured(3_650_000, 1000, 1000);
  uptime.at = 1001;
  expect(clock.now()).toBe(3_650_001);
});

it('a clock that is set back is met at half speed', () => {
  const { uptime, clock } = newClock();
  expect(clock.now()).toBe(50_000);
  clock.measured(49_000, 1000, 1000);
  const times = [1000, 1500, 2000, 3000, 4000].map(at => {
    uptime.at = at;
    return clock.now();
  });
  expect(times).toEqual([50_000, 50_250, 50_500, 51_000, 52_000]);
});
