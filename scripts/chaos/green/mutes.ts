import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pick, type Random } from '../../../test/testbed/random.js';
import { marked } from './faults.js';
import { isOwnClient, type Job, jobName, type Scenario } from './scenario.js';
import { isGreen, type PlayedCiRun } from './violations.js';

/** Scenarios whose repositories mute failures, of whole files and of their only case. The names of these files have a mark. */

export const FAILURES_ARE_MUTED = 'failures are muted';

const MUTED = 0.15;
const MARKS = ['muted_fails', 'muted_case_fails'] as const;

export const isMuted = (path: string) => path.includes('_muted_');

/** Has some files of a scenario fail, and mutes them. Returns the name of the fault that this is. */
export function addMutes({ ciRuns, pieces }: Scenario, random: Random): string[] {
  const jobs = ciRuns.flatMap(run => run.jobs);
  if (!jobs.every(isOwnClient)) return [];
  const whole = [...new Set(jobs.flatMap(({ files }) => files))].filter(
    path => !pieces?.known[path] && ciRuns.every(({ cases }) => !cases[path]) && !/_(hangs|fails|flaky|unreported|skipped)/.test(path),
  );
  if (whole.length === 0) return [];
  const renamed = new Map(whole.map(path => [path, random() < MUTED ? marked(path, pick(random, MARKS)) : path]));
  const first = whole[0]!;
  renamed.set(first, marked(first, pick(random, MARKS)));
  for (const job of jobs) job.files = job.files.map(path => renamed.get(path) ?? path);
  return [FAILURES_ARE_MUTED];
}

/** Writes the file of muted failures into the folder of a job. */
export function writeMutes({ files }: Job, folder: string): void {
  mkdirSync(join(folder, '.ballast'), { recursive: true });
  const names = files.filter(isMuted).map(path => (path.includes('_case_') ? `${path}::one` : path));
  writeFileSync(
    join(folder, '.ballast/muted'),
    [...new Set(names)].map(name => `${name} until=2999-12-31 owner=@web reason=issue 4711\n`).join(''),
  );
}

/**
 * Returns the muted failures of a green CI run that the gate does not name, if it is green, too.
 * @param isCalm nothing else went wrong, and the runners write reports: then all must be green
 */
export function mutedViolationsOf(played: PlayedCiRun, isCalm: boolean): string[] {
  const { starts, ran, verified } = played;
  const failed = [...new Set(ran.flatMap(({ path, outcome }) => (outcome === 'failed' && isMuted(path) ? path : [])))];
  if (isCalm && !(isGreen(played) && verified.code === 0))
    return [
      `all failures were muted, but nodes exited with ${starts.map(({ job, code }) => `${code} (${jobName(job)})`).join(', ')}, and verify with ${verified.code}`,
    ];
  if (!isGreen(played) || verified.code !== 0) return [];
  const unnamed = failed.filter(path => !verified.output.includes(path));
  return unnamed.length === 0 ? [] : [`all nodes and verify exited with 0, but verify did not name ${unnamed.join(', ')}`];
}
