import { describe, expect, it } from 'vitest';
import { type TimeLimitOption, timeLimitOf } from '../../../src/node/client/time-limit.js';

describe('the time limit of a command', () => {
  it.each<[situation: string, durations: (number | undefined)[], option: TimeLimitOption, limit: number | null]>([
    ['is eight times what its files are expected to take', [100, 20], {}, 960],
    ['is no less than 10 minutes', [1, 2], {}, 600],
    ['is missing if one of its files was never measured', [100, undefined], {}, null],
    ['is that of the option, also if they are expected to take longer', [100, 200], { timeLimit: 240 }, 240],
    ['is that of the option if one of its files was never measured', [undefined], { timeLimit: 240 }, 240],
    ['is missing if the option turns it off', [1, 2], { timeLimit: 'off' }, null],
    ['is 10 minutes for a command without files', [], {}, 600],
  ])('%s', (_, durations, option, limit) => {
    const files = durations.map(duration => (duration === undefined ? {} : { duration }));
    expect(timeLimitOf(files, option)).toBe(limit);
  });
});
