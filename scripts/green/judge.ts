import type { Evidence } from './evidence.js';
import type { Ended } from './own-client.js';
import type { Ran } from './runner.js';
import { type CiRun, isOwnClient, type Job, nameOf } from './scenario.js';

/** A job that was started, for the first time or again. */
export interface Start extends Ended {
  job: Job;
  number: number;
  /** What the proxy did to it. */
  requests: readonly string[];
}

/** A CI run that was played. */
export interface Played {
  ciRun: CiRun;
  starts: Start[];
  /** What the runners ran in it, in this order. */
  ran: Ran[];
  evidence: Evidence;
  verified: Ended & { requests: readonly string[] };
}

const FILES_SHOWN = 8;

/** Every node ended with 0 the last time that it was started, and each was started. */
export function isGreen({ ciRun, starts }: Pick<Played, 'ciRun' | 'starts'>): boolean {
  return ciRun.jobs.every(job => codeOf(job, starts) === 0);
}

/** What a CI run breaks of: all nodes green means that every listed file was run; the gate green, that it was recorded, too. */
export function complaintsAbout(played: Played): string[] {
  const { ciRun, starts, verified } = played;
  const complaints = starts.filter(({ code }) => code === null).map(({ job }) => `${nameOf(job)} hung`);
  if (ciRun.jobs.every(isOwnClient)) complaints.push(...ofNodes(played));
  if (verified.code === 0) complaints.push(...ofGate(played));
  return complaints;
}

/** Of a CI run to which nothing was done. */
export function complaintsAboutPeace(played: Played): string[] {
  const { ciRun, starts, ran, verified } = played;
  const files = new Set(ciRun.jobs.flatMap(job => job.files));
  const complaints: string[] = [];
  if (!isGreen(played)) complaints.push(`nothing went wrong, and nodes ended with ${starts.map(({ code }) => code).join(', ')}`);
  if (verified.code !== 0) complaints.push(`nothing went wrong, and verify ended with ${verified.code}`);
  if (ran.length !== files.size || ran.some(({ path }) => !files.has(path))) complaints.push(`nothing went wrong, and of ${files.size} test files ${ran.length} were run`);
  return complaints;
}

function ofNodes(played: Played): string[] {
  const { ciRun, starts, ran } = played;
  const complaints: string[] = [];
  for (const { job, number, code } of starts) {
    const failed = ran.filter(({ job: name, start, outcome }) => name === nameOf(job) && start === number && outcome === 'failed');
    if (code === 0 && failed.length > 0) complaints.push(`${nameOf(job)} ended with 0, and in it failed ${named(failed.map(({ path }) => path))}`);
  }
  if (!isGreen(played)) return complaints;
  const outcomes = new Map(ran.map(({ path, outcome }) => [path, outcome]));
  const listed = new Set(ciRun.jobs.flatMap(job => job.files));
  const unrun = losesSplit(ciRun) ? [] : [...listed].filter(path => !outcomes.has(path));
  if (unrun.length > 0) complaints.push(`every node ended with 0, and nobody ran ${named(unrun)} of ${listed.size} test files`);
  const failed = [...listed].filter(path => outcomes.get(path) === 'failed');
  if (failed.length > 0) complaints.push(`every node ended with 0, and the last time that they were run there failed ${named(failed)}`);
  return complaints;
}

/**
 * Every list of a green node was run and recorded, where Ballast's own client, which compares, or the server has seen it. Of lists that
 * differ, those of other nodes may not have been: but one was, as the gate is about a split or a queue that was made of one.
 */
function ofGate({ ciRun, starts, ran, evidence }: Played): string[] {
  const isRun = new Set(ran.map(({ path }) => path));
  const missing = ({ files }: Job) => files.filter(path => !isRun.has(path) || !evidence.told.has(path));
  const green = ciRun.jobs.filter(job => codeOf(job, starts) === 0 && (isOwnClient(job) || evidence.hasList(job.files)));
  const unrecorded = [...new Set(green.flatMap(missing))];
  if (unrecorded.length > 0) return [`verify ended with 0, and in this CI run nobody ran and recorded ${named(unrecorded)}`];
  if (ciRun.jobs.every(job => missing(job).length > 0)) return [`verify ended with 0, and in this CI run nobody ran and recorded ${named(missing(ciRun.jobs[0]!))}`];
  return [];
}

/** A node that had its part of a split before the store was lost, and one that comes after, cannot know of each other: only the gate does. */
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
