import { hasRun, unitsOf } from './cases.js';
import type { Evidence } from './evidence.js';
import { isMuted } from './mutes.js';
import type { Exit } from './own-client.js';
import { mayLeaveOut } from './proofs.js';
import { isOvercome, retryViolationsOf } from './retries.js';
import type { FileRun } from './runner.js';
import { type CiRun, isOwnClient, type Job, jobName } from './scenario.js';

/** One start of a job: the first one or a retry. */
export interface Start extends Exit {
  job: Job;
  number: number;
  /** Treatment of its requests by the proxy. */
  requests: readonly string[];
  /** When it pulled from a queue last, by performance.now(); 0: it never did. */
  lastPullAt: number;
}

/** A CI run that was played. */
export interface PlayedCiRun {
  ciRun: CiRun;
  starts: Start[];
  /** The files and cases that its runners ran, in order. */
  ran: FileRun[];
  evidence: Evidence;
  verified: Exit & { requests: readonly string[] };
  /** The CI runs of the scenario that ended before it began. */
  before: readonly PlayedCiRun[];
  /** Null: nobody asked for a proof. */
  proved: (Exit & { requests: readonly string[] }) | null;
}

const FILES_SHOWN = 8;

/** Reports whether every node was started, and its last start exited with 0. */
export function isGreen({ ciRun, starts }: Pick<PlayedCiRun, 'ciRun' | 'starts'>): boolean {
  return ciRun.jobs.every(job => lastExitCode(job, starts) === 0);
}

/** Returns the invariants that a CI run violated: if all nodes are green, every listed file ran; if the gate is green, every file was also recorded. */
export function violationsOf(played: PlayedCiRun): string[] {
  const { ciRun, starts, verified } = played;
  const violations = starts.filter(({ code }) => code === null).map(({ job }) => `${jobName(job)} hung`);
  if (ciRun.jobs.every(isOwnClient)) violations.push(...nodeViolations(played));
  if (verified.code === 0) violations.push(...gateViolations(played));
  violations.push(...retryViolationsOf(played));
  return violations;
}

/** Returns the additional invariants that a CI run without faults violated: it is green, and runs each file once. */
export function faultlessViolationsOf(played: PlayedCiRun): string[] {
  const { ciRun, starts, verified } = played;
  const ran = played.ran.filter(hasRun);
  const files = new Set(ciRun.jobs.flatMap(job => unitsOf(ciRun, job.files)).filter(unit => !mayLeaveOut(played, unit)));
  const violations: string[] = [];
  if (!isGreen(played)) violations.push(`there were no faults, but nodes exited with ${starts.map(({ code }) => code).join(', ')}`);
  if (verified.code !== 0) violations.push(`there were no faults, but verify exited with ${verified.code}`);
  const retried = ran.filter(({ outcome, path }) => outcome === 'failed' && isOvercome(played, path)).length;
  if (ran.length !== files.size + retried || ran.some(({ path }) => !files.has(path)))
    violations.push(`there were no faults, but ${ran.length} runs of ${files.size} test files, ${retried} of them retried`);
  return violations;
}

/** Reports whether a node of a queue pulled after the last pull of each node that left: it could get all files of these. */
export function isStaffed({ ciRun, starts }: Pick<PlayedCiRun, 'ciRun' | 'starts'>): boolean {
  // A node that was not killed ends with 1 if a file failed.
  const leaves = ({ job, number, code }: Start) => code !== 0 && (code !== 1 || (number === 1 && job.kill !== null));
  const staying = starts.filter(start => !leaves(start));
  const lastPull = (some: readonly Start[]) => Math.max(0, ...some.map(({ lastPullAt }) => lastPullAt));
  return ciRun.jobs.every(({ mode }) => mode === 'queue') && lastPull(staying) > lastPull(starts.filter(leaves));
}

/**
 * Returns the additional invariants that a CI run violated in which a node stayed until the others had left, and nothing else was broken:
 * every file that does not hang was run and recorded.
 */
export function staffedViolationsOf(played: PlayedCiRun): string[] {
  const { ciRun, ran, evidence, verified } = played;
  const listed = [...new Set(ciRun.jobs.flatMap(({ files }) => files))];
  const due = listed.filter(path => !path.includes('_hangs'));
  const isRun = new Set(ran.filter(hasRun).map(({ path }) => path));
  const isDone = (path: string) => (isRun.has(path) && evidence.hasReported(path)) || mayLeaveOut(played, path);
  const missing = unitsOf(ciRun, due).filter(path => !isDone(path));
  const violations: string[] = [];
  if (missing.length > 0) violations.push(`a node stayed until the others had left, but no node ran and recorded ${listFiles(missing)}`);
  if (verified.code !== 0 && due.length === listed.length)
    violations.push(`a node stayed until the others had left, but verify exited with ${verified.code}`);
  return violations;
}

function nodeViolations(played: PlayedCiRun): string[] {
  const { ciRun, starts, ran } = played;
  const violations: string[] = [];
  for (const { job, number, code } of starts) {
    const own = ran.filter(({ job: name, start }) => name === jobName(job) && start === number);
    // A case that failed in a piece may pass in the whole file right afterwards.
    const passed = new Set(own.flatMap(({ path, outcome }) => (path.includes('::') && outcome === 'passed' ? path : [])));
    const isGreen = (path: string) => passed.has(path) || isOvercome(played, path) || isMuted(path);
    const failed = own.flatMap(({ path, outcome }) => (outcome === 'failed' && !isGreen(path) ? path : []));
    if (code === 0 && failed.length > 0) violations.push(`${jobName(job)} exited with 0 although these files failed: ${listFiles(failed)}`);
  }
  if (!isGreen(played)) return violations;
  const outcomes = new Map(ran.filter(hasRun).map(({ path, outcome }) => [path, outcome]));
  const listed = new Set(ciRun.jobs.flatMap(job => unitsOf(ciRun, job.files)));
  const notRun = losesSplit(ciRun) ? [] : [...listed].filter(path => !outcomes.has(path) && !mayLeaveOut(played, path));
  if (notRun.length > 0) violations.push(`every node exited with 0, but no node ran ${listFiles(notRun)} of ${listed.size} test files`);
  const failed = [...listed].filter(path => outcomes.get(path) === 'failed' && !isMuted(path));
  if (failed.length > 0) violations.push(`every node exited with 0 although these files failed in their last run: ${listFiles(failed)}`);
  return violations;
}

/**
 * Every file in the list of a green node must be run and recorded, if the server has seen the list, or Ballast's own client, which compares lists
 * unless it is in fallback. A list that differs and was not seen is exempt. At least one list must be complete, because the gate checks a split
 * or queue made from one list: unless commercial clients read the split of an earlier CI run of the commit, and sent no list.
 */
function gateViolations(played: PlayedCiRun): string[] {
  const { ciRun, starts, ran, evidence } = played;
  const isRun = new Set(ran.filter(hasRun).map(({ path }) => path));
  const isDone = (path: string) => (isRun.has(path) && evidence.hasReported(path)) || mayLeaveOut(played, path);
  const missing = ({ files }: Job) => unitsOf(ciRun, files).filter(path => !isDone(path));
  const isSeen = (job: Job) => (isOwnClient(job) && !job.fallback) || evidence.hasList(job.files);
  const green = ciRun.jobs.filter(job => lastExitCode(job, starts) === 0 && isSeen(job));
  const unrecorded = [...new Set(green.flatMap(missing))];
  if (unrecorded.length > 0) return [`verify exited with 0, but in this CI run no node ran and recorded ${listFiles(unrecorded)}`];
  const maySendNone = ciRun.jobs.every(job => job.mode === 'v1 split' && !isSeen(job));
  if (!maySendNone && ciRun.jobs.every(job => missing(job).length > 0))
    return [`verify exited with 0, but in this CI run no node ran and recorded ${listFiles(missing(ciRun.jobs[0]!))}`];
  return [];
}

/** Reports whether two nodes may get parts of two splits, because the store was lost in between. Only the gate can detect this. */
function losesSplit({ operations, jobs }: CiRun): boolean {
  return operations.some(({ kind }) => kind === 'empty' || kind === 'restore') && jobs.some(({ mode }) => mode === 'split');
}

/** Returns undefined if the job was never started. */
function lastExitCode(job: Job, starts: readonly Start[]): number | null | undefined {
  return starts.findLast(start => start.job === job)?.code;
}

function listFiles(paths: readonly string[]): string {
  return `${paths.length} (${paths.slice(0, FILES_SHOWN).join(', ')}${paths.length > FILES_SHOWN ? ', ...' : ''})`;
}
