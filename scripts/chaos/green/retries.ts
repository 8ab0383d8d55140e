import { type Random, randomInteger } from '../../../test/testbed/random.js';
import type { FileRun } from './runner.js';
import { isOwnClient, jobName, type Scenario } from './scenario.js';
import type { PlayedCiRun, Start } from './violations.js';

/** Scenarios whose nodes retry failed files. A file whose name has `_unsteady` fails when it first runs in a CI run. */

/** With more of them, none is retried. */
const MANY = 12;

/** The part of scenarios whose files fail in their retries, too. */
const ALWAYS = 0.25;

/** Has the nodes of a scenario retry files, from a queue and with reports, if they are all of Ballast's own client and run whole files. */
export function addRetries(scenario: Scenario, random: Random): void {
  const { ciRuns, pieces, overlaps } = scenario;
  if (pieces || overlaps || !ciRuns.every(({ jobs }) => jobs.every(isOwnClient))) return;
  const isFaultless = scenario.faults.length === 0;
  const draw = random();
  const count = isFaultless || draw < 0.7 ? 1 : draw < 0.9 ? 2 : MANY;
  const [first] = ciRuns[0]!.jobs;
  const name = !isFaultless && random() < ALWAYS ? '_fails_' : '_unsteady_';
  const chosen = new Set(Array.from({ length: count }, () => first!.files[randomInteger(random, first!.files.length) - 1]!));
  const renamed = new Map<string[], string[]>();
  for (const ciRun of ciRuns) {
    ciRun.retriesFiles = true;
    for (const job of ciRun.jobs) {
      job.mode = 'queue';
      job.runner.hasReport = true;
      const files = renamed.get(job.files) ?? job.files.map(path => (chosen.has(path) ? path.replace('/', `/${name}`) : path));
      renamed.set(job.files, files);
      job.files = files;
    }
  }
}

/** The failures that a node may exit with 0 in spite of: the files passed later in the CI run, so they were retried. */
export function isOvercome({ ciRun, ran }: Pick<PlayedCiRun, 'ciRun' | 'ran'>, path: string): boolean {
  return ciRun.retriesFiles && ran.findLast(run => run.path === path)?.outcome === 'passed';
}

/** Returns what the gate left out: a green CI run names each file that failed on a node which exited with 0. */
export function retryViolationsOf({ ciRun, starts, ran, verified }: PlayedCiRun): string[] {
  if (!ciRun.retriesFiles || verified.code !== 0) return [];
  const isGreen = ({ job, start }: FileRun) =>
    starts.some((other: Start) => jobName(other.job) === job && other.number === start && other.code === 0);
  const overcome = ran.filter(run => run.outcome === 'failed' && isGreen(run));
  const unnamed = overcome.find(({ path }) => !verified.output.includes(path));
  return unnamed ? [`a node exited with 0 after ${unnamed.path} failed, and verify does not name it`] : [];
}
