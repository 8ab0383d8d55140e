import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../../../test/testbed/cleanup.js';
import { pick, type Random } from '../../../test/testbed/random.js';
import { unitsOf } from './cases.js';
import { withoutFaults } from './faults.js';
import type { FileRun } from './runner.js';
import { type CiRun, isOwnClient, type Job, jobName, type Scenario } from './scenario.js';
import type { PlayedCiRun } from './violations.js';

/** Scenarios whose nodes are in work trees of Git. After each of their CI runs, `proved` is asked, and another one may leave out what is proved. */

const OTHER_TREE = 0.2;
const RERUN = 0.7;
const CALM_RERUN = 0.6;

/** Has a scenario ask for proofs. Returns the names of the faults that this adds. */
export function addProofs(scenario: Scenario, random: Random): string[] {
  scenario.asksForProofs = true;
  const isFaultless = scenario.faults.length === 0;
  const last = scenario.ciRuns.at(-1)!;
  const faults: string[] = [];
  if (!isFaultless && random() < OTHER_TREE) {
    pick(random, last.jobs).hasOtherTree = true;
    faults.push('trees differ');
  }
  if (random() < RERUN && (isFaultless ? mustBeProved(last) : last.jobs.every(isOwnClient))) {
    const run = isFaultless || random() < CALM_RERUN ? withoutFaults(last) : last;
    const jobs = run.jobs.map((job): Job => ({ ...job, mode: 'queue' }));
    scenario.ciRuns.push({ ...run, jobs, buildId: String(Number(run.buildId) + 1), leavesOutProved: true });
  }
  return faults;
}

/** The file in the tree. A test file depends on it. */
const TREE_FILE = 'tree.json';
const repositories = new Map<string, string>();

/**
 * Puts the files of a tree in the folder of a job, in which Git ignores all others. Returns the variables with which Git knows it as a work tree.
 * The tree depends on the cases of the test files.
 */
export function checkOut({ cases }: CiRun, hasOtherTree: boolean, folder: string): NodeJS.ProcessEnv {
  const content = JSON.stringify({ cases, hasOtherTree });
  writeFileSync(join(folder, TREE_FILE), content);
  const repository = repositories.get(content) ?? makeRepository(content);
  repositories.set(content, repository);
  return { GIT_DIR: join(repository, '.git') };
}

function makeRepository(content: string): string {
  const cwd = temporaryFolder();
  const git = (...args: string[]) => execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.com', ...args], { cwd });
  git('init', '-q');
  writeFileSync(join(cwd, TREE_FILE), content);
  git('add', TREE_FILE);
  git('commit', '-q', '-m', 'tests');
  writeFileSync(join(cwd, '.git/info/exclude'), '*\n');
  return cwd;
}

/** Reports whether a file or case passed in an earlier CI run of the tree, so that a CI run may leave it out. */
export function mayLeaveOut({ ciRun, before }: PlayedCiRun, unit: string): boolean {
  return ciRun.leavesOutProved && before.some(one => isSameTree(one.ciRun, ciRun) && passedIn(one, unit));
}

/** Returns what `proved` said falsely after a CI run: that it is proved, if each file passed in none, or, without faults, that it is not. */
export function proofViolationsOf(played: PlayedCiRun, isFaultless: boolean): string[] {
  const { ciRun, before, proved } = played;
  if (!proved) return [];
  const { files } = ciRun.jobs[0]!;
  const isProof = (one: PlayedCiRun) =>
    isSameTree(one.ciRun, ciRun) && unitsOf(one.ciRun, files).every(unit => passedIn(one, unit) || mayLeaveOut(one, unit));
  if (proved.code === 0 && ![...before, played].some(isProof)) return ['proved exited with 0, but in no CI run every test file passed'];
  return isFaultless && mustBeProved(ciRun) && proved.code !== 0 ? [`there were no faults, but proved exited with ${proved.code}`] : [];
}

/** Reports whether a CI run without faults is a proof: no other client tells its tree, and no file passed only in its retry. */
const mustBeProved = ({ jobs, retriesFiles }: CiRun) => jobs.every(isOwnClient) && !retriesFiles;

const isSameTree = (a: CiRun, b: CiRun) => JSON.stringify(a.cases) === JSON.stringify(b.cases);

/** Reports whether a node in the tree ran a file or case and it passed, and no node that told of its failure did. */
function passedIn({ ciRun, starts, ran, evidence }: PlayedCiRun, unit: string): boolean {
  const inTree = new Set(ciRun.jobs.filter(({ hasOtherTree }) => !hasOtherTree).map(jobName));
  const own = ran.filter(({ path, job }) => path === unit && inTree.has(job));
  const passes = own.filter(({ outcome }) => outcome === 'passed' || (outcome === 'skipped' && unit.includes('_skipped')));
  const mayHang = (name: string) =>
    ciRun.jobs.some(job => jobName(job) === name && job.timeLimitSeconds !== null && job.files.some(path => path.includes('_hangs')));
  // A case that failed in a piece may pass in the whole file right afterwards, and a file that failed in a command that hung may pass alone.
  const isOvercome = ({ job, start }: FileRun) =>
    (unit.includes('::') || mayHang(job)) && passes.some(one => one.job === job && one.start === start);
  // A node that was killed, or whose server was lost, may not have told of a failure.
  const isTold = ({ job, start }: FileRun) =>
    starts.some(({ job: of, number, code }) => jobName(of) === job && number === start && (code === 0 || code === 1));
  const failures = own.filter(run => run.outcome === 'failed' && isTold(run) && !isOvercome(run));
  return passes.length > 0 && failures.length === 0 && evidence.hasReported(unit);
}
