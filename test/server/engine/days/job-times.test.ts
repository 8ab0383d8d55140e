import { describe, expect, it } from 'vitest';
import { type JobTimes, MOST_JOB_TIMES, withJobs } from '../../../../src/server/engine/days/job-times.js';

const jobTimesOf = (durations: readonly number[]) =>
  withJobs(
    [],
    durations.map(seconds => [seconds, 1]),
    1,
  );

describe('the times of jobs', () => {
  it('are the durations, with the number of jobs of each', () => {
    const times = jobTimesOf([60, 7, 60]);
    expect(times).toEqual([
      [7, 1],
      [60, 2],
    ]);
    expect(withJobs(times, jobTimesOf([61, 60]), 1)).toEqual([
      [7, 1],
      [60, 3],
      [61, 1],
    ]);
  });

  it('are without the jobs that are taken off again', () => {
    expect(withJobs(jobTimesOf([60, 7, 60]), jobTimesOf([60, 7]), -1)).toEqual([[60, 1]]);
  });

  it('are bounded: a job with a new duration counts with the nearest, and is taken off from there', () => {
    const full: JobTimes = Array.from({ length: MOST_JOB_TIMES }, (_, i) => [10 * i, 1]);
    const more = withJobs(full, [[34, 2]], 1);
    expect([more.length, more[3]]).toEqual([MOST_JOB_TIMES, [30, 3]]);
    expect(withJobs(more, [[34, 2]], -1)).toEqual(full);
    expect(withJobs([], [[34, 2]], -1)).toEqual([]);
  });
});
