/** Durations of jobs in whole seconds, ascending, with the number of jobs that ran so long. */
export type JobTimes = readonly (readonly [seconds: number, jobs: number])[];

/** Durations that are kept apart. A job with another one counts with the nearest. */
export const MOST_JOB_TIMES = 10_000;

/** Adds jobs, or (-1) takes them off again. */
export function withJobs(times: JobTimes, more: JobTimes, sign: 1 | -1): JobTimes {
  const jobs = new Map(times);
  for (const [seconds, count] of more) {
    const isApart = jobs.has(seconds) || (sign === 1 && jobs.size < MOST_JOB_TIMES);
    const kept = isApart ? seconds : [...jobs.keys()].sort((a, b) => Math.abs(a - seconds) - Math.abs(b - seconds))[0];
    if (kept !== undefined) jobs.set(kept, (jobs.get(kept) ?? 0) + sign * count);
  }
  return [...jobs].filter(([, count]) => count > 0).sort(([a], [b]) => a - b);
}
