import type { Evidence } from './evidence.js';
import type { Ended } from './own-client.js';
import type { Ran } from './runner.js';
import { type CiRun, isOwnClient, type Job, nameOf } from './scenario.js';

/** One start of a job: the first one or a retry. */
export interface Start extends Ended {
  job: Job;
  number: number;
  /** What the proxy did to its requests. */
  requests: readonly string[];
}

/** A CI run that was played. */
export interface Played {
  ciRun: CiRun;
  starts: Start[];
  /** The files that its runners ran, in order. */
  ran: Ran[];
  evidence: Evidence;
  verified: Ended & { requests: readonly string[] };
}

const FILES_SHOWN = 8;

/** Whether every node was started, and its last start exited with 0. */
export function isGreen({ ciRun, starts }: Pick<Played, 'ciRun' | 'starts'>): boolean {
  return ciRun.jobs.every(job => codeOf(job, starts) === 0);
}

/** The invariants that a CI run violated: if all nodes are green, every listed file ran; if the gate is green, every file was also recorded. */
export function complaintsAbout(played: Played): string[] {
  const { ciRun, starts, verified } = played;
  const complaints = starts.filter(({ code }) => code === null).map(({ job }) => `${nameOf(job)} hung`);
  if (ciRun.jobs.every(isOwnClient)) complaints.push(...ofNodes(played));
  if (verified.code === 0) complaints.push(...ofGate(played));
  return complaints;
}

/** The additional complaints about a CI run without faults: it must be green, and run each file once. */
export function complaintsAboutPeace(played: Played): string[] {
  const { ciRun, starts, ran, verified } = played;
  const files = new Set(ciRun.jobs.flatMap(job => job.files));
  const complaints: string[] = [];
  if (!isGreen(played)) complaints.push(`there were no faults, but nodes exited with ${starts.map(({ code }) => code).join(', ')}`);
  if (verified.code !== 0) complaints.push(`there were no faults, but verify exited with ${verified.code}`);
  if (ran.length !== files.size || ran.some(({ path }) => !files.has(path)))
    complaints.push(`there were no faults, but ${ran.length} runs of ${files.size} test files`);
  return complaints;
}

function ofNodes(played: Played): string[] {
  const { ciRun, starts, ran } = played;
  const complaints: string[] = [];
  for (const { job, number, code } of starts) {
    const failed = ran.filter(({ job: name, start, outcome }) => name === nameOf(job) && start === number && outcome === 'failed');
    if (code === 0 && failed.length > 0)
      complaints.push(`${nameOf(job)} exited with 0 although these files failed: ${named(failed.map(({ path }) => path))}`);
  }
  if (!isGreen(played)) return complaints;
  const outcomes = new Map(ran.map(({ path, outcome }) => [path, outcome]));
  const listed = new Set(ciRun.jobs.flatMap(job => job.files));
  const unrun = losesSplit(ciRun) ? [] : [...listed].filter(path => !outcomes.has(path));
  if (unrun.length > 0) complaints.push(`every node exited with 0, but no node ran ${named(unrun)} of ${listed.size} test files`);
  const failed = [...listed].filter(path => outcomes.get(path) === 'failed');
  if (failed.length > 0) complaints.push(`every node exited with 0 although these files failed in their last run: ${named(failed)}`);
  return complaints;
}

/**
 * The list of a green node must be run and recorded if Ballast's own client, which compares lists, or the server has seen it. Lists of
 * other nodes that differ need not be. But at least one list must be, because the gate checks a split or queue made from one list.
 */
function ofGate({ ciRun, starts, ran, evidence }: Played): string[] {
  const isRun = new Set(ran.map(({ path }) => path));
  const missing = ({ files }: Job) => files.filter(path => !isRun.has(path) || !evidence.reported.has(path));
  const green = ciRun.jobs.filter(job => codeOf(job, starts) === 0 && (isOwnClient(job) || evidence.hasList(job.files)));
  const unrecorded = [...new Set(green.flatMap(missing))];
  if (unrecorded.length > 0) return [`verify exited with 0, but in this CI run no node ran and recorded ${named(unrecorded)}`];
  if (ciRun.jobs.every(job => missing(job).length > 0))
    return [`verify exited with 0, but in this CI run no node ran and recorded ${named(missing(ciRun.jobs[0]!))}`];
  return [];
}

/** A node that got its part of a split before the store was lost cannot know of a node that starts later. Only the gate can detect this. */
function losesSplit({ events, jobs }: CiRun): boolean {
  return events.some(({ what }) => what === 'empty' || what === 'restore') && jobs.some(({ mode }) => mode === 'split');
}

/** Undefined: it was never started. */
function codeOf(job: Job, starts: readonly Start[]): number | null | undefined {
  return starts.findLast(start => start.job === job)?.code;
}

function named(paths: readonly string[]): string {
  return `${paths.length} (${paths.slice(0, FILES_SHOWN).join(', ')}${paths.length > FILES_SHOWN ? ', ...' : ''})`;
}
