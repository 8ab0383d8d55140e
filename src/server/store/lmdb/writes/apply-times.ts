import type { Logger } from 'pino';
import { shortDigest } from '../../../engine/keys.js';
import type { Millis } from '../../../engine/ports/store.js';
import { isPublicSide } from '../../../engine/public-side/side.js';
import type { Measurement, RunKind } from '../../../planning/estimating/timing.js';
import { fileCount, pathAt, secondsAt, viewOf } from '../../codecs/run-times.js';
import type { Parts } from '../parts.js';
import type { ProjectRecord, RunKey, RunRecord } from '../records.js';
import type { Tables } from '../tables.js';

/** Timings that are updated in one turn of the event loop: about a millisecond. */
export const TIMINGS_PER_TURN = 250;

/** A recorded run whose times are not in the timings yet. */
export interface PendingRun {
  project: number;
  branch: string;
  /** The id of its build, and when the build's first run was recorded. */
  build: string;
  began: Millis;
  at: Millis;
  run: RunKind;
}

/** The records of projects, as the table has them. */
interface Projects {
  get(project: number): ProjectRecord | undefined;
}

type TimingParts = Pick<Parts, 'timingBuffer'> & { projects: Projects };

/**
 * Applies the times of a run to the timings of its paths, and resolves when all of them count. Those of a public side never count.
 *
 * @param turn resolves in a later turn of the event loop, when the buffer has room for more times
 */
export async function applyTimes(
  parts: TimingParts,
  recorded: RunRecord,
  { project, branch, build, began, at, run }: PendingRun,
  turn: () => Promise<unknown> = () => parts.timingBuffer.nextTurn(),
): Promise<void> {
  if (isPublicSide(project)) return;
  const { timingBuffer } = parts;
  const branches = branchesOf(parts, project, branch);
  // One object, changed for each file: a copy for each file took a third of a recording.
  const measurement: Measurement = { build: shortDigest(build), at, began, run, seconds: 0 };
  const times = viewOf(recorded.times);
  const files = fileCount(recorded);
  for (let i = 0; i < files; i++) {
    if (i > 0 && i % TIMINGS_PER_TURN === 0) await turn();
    measurement.seconds = secondsAt(times, i);
    if (measurement.seconds > 0) timingBuffer.measure(pathAt(times, i), branches.branch, branches.defaultBranch, measurement);
  }
}

/** Applies the times of runs that were recorded shortly before the last process ended. */
export async function applyPendingRuns(
  parts: TimingParts & Pick<Tables, 'builds' | 'subsets' | 'pendingRuns'>,
  log: Logger,
): Promise<void> {
  const { pendingRuns, builds, subsets, timingBuffer } = parts;
  for (const { key: entry, value } of [...pendingRuns.getRange()]) {
    let isApplied = true;
    for (const runKey of value) {
      try {
        const build = builds.get(runKey[0]);
        const run = subsets.get(runKey);
        if (!build || !run) continue;
        const { project, branch, id, created_at: began } = build;
        const { created_at: at } = run;
        await applyTimes(parts, run, { project, branch, build: id, began, at, run: kindOf(runKey) });
      } catch (err) {
        // The server starts without these times.
        log.error({ err, runKey }, 'the times of a recorded run were not applied');
        isApplied = false;
      }
    }
    if (isApplied) timingBuffer.markApplied(entry);
  }
}

export function kindOf([, , run]: RunKey): RunKind {
  return run === 1 ? 'first' : 'retried';
}

/** The numbers of a branch and of the default branch, under which timings are kept. */
export interface Branches {
  branch: number;
  /** Null: the project has no build yet. */
  defaultBranch: number | null;
}

export function branchesOf({ projects }: { projects: Projects }, project: number, branch: string): Branches {
  const name = projects.get(project)?.default_branch ?? null;
  return { branch: shortDigest(branch), defaultBranch: name === null ? null : shortDigest(name) };
}
