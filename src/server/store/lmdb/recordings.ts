import { randomUUID } from 'node:crypto';
import { type Saving, type Soon, whenKnown } from '../../../base/soon.js';
import { buildDigest, type NodeKey } from '../../engine/keys.js';
import type { NewRun, Recorded, Recordings } from '../../engine/ports/recordings.js';
import type { Millis } from '../../engine/ports/store.js';
import { pathOf } from '../../engine/recordings.js';
import { Refusal } from '../../engine/refusal.js';
import { afterOthers } from '../after-others.js';
import { newTimes, setTime, viewOf } from '../codecs/run-times.js';
import type { Parts } from './parts.js';
import { applyTimes, TIMINGS_PER_TURN } from './writes/apply-times.js';
import { commit, written } from './writes/commit.js';
import { putRuns, type RunToPut } from './writes/put-runs.js';

/** A run of more test files is large: it is put at once, without the journal, and after the other large ones of its project. */
export const JOURNALED_RUN_FILES = 5000;

export function lmdbRecordings(parts: Parts) {
  return {
    record(project, key, run, { isRetry, hasLeft }, at) {
      const recordNow = () => record(parts, project, key, run, isRetry, at);
      if (!isLarge(run)) return underWay(parts, recordNow());
      // All at once, none would end within the time that clients wait.
      const recording = afterOthers(parts.largeRuns, project, () => {
        if (hasLeft()) throw new Refusal('the run waited for too long; try again', 'busy');
        return recordNow();
      });
      return underWay(parts, recording);
    },
  } satisfies Recordings;
}

function isLarge({ seconds }: NewRun): boolean {
  return seconds.length > JOURNALED_RUN_FILES;
}

/** Notes a recording until it ends, because the store stays open for it. */
function underWay<T>({ recordings }: Parts, recording: Soon<T>): Soon<T> {
  if (recording instanceof Promise) {
    const ended = () => void recordings.delete(recording);
    recordings.add(recording);
    recording.then(ended, ended);
  }
  return recording;
}

function record(parts: Parts, project: number, key: NodeKey, run: NewRun, isRetry: boolean, at: Millis): Soon<Saving<Recorded>> {
  parts.diskSpace.assert();
  const { ci_run, asked_at, hasTestCases, has_no_test } = run;
  const times = newTimes(run.seconds.length);
  return whenKnown(setTimes(parts, project, run, viewOf(times), at), () => {
    const { timingBuffer, runs, journal } = parts;
    const toPut: RunToPut = {
      project,
      key,
      build: buildDigest(project, key),
      hasTestCases,
      isRetry,
      entry: timingBuffer.nextEntry(),
      run: { id: randomUUID(), created_at: at, ordinal: 0, ci_run, asked_at, has_no_test, times },
    };
    // No rule can refuse the first run of a node, so the journal is enough. A large run goes to the tables only, not to be written twice.
    if (isLarge(run) || runs.mayHaveRun(toPut)) return recordInTables(parts, toPut);
    toPut.isFirst = true;
    return { value: 'recorded', saved: journal.writeRun(toPut) };
  });
}

/** Sets the times of a run. The numbers of its paths are on disk afterwards. */
function setTimes({ timingBuffer }: Parts, project: number, run: NewRun, times: DataView, at: Millis): Soon<unknown> {
  const { length } = run.seconds;
  const setFrom = (from: number): Soon<unknown> => {
    const to = Math.min(length, from + TIMINGS_PER_TURN);
    for (let i = from; i < to; i++)
      setTime(times, i, timingBuffer.intern(project, pathOf(run, i), at), run.seconds[i]!, run.outcomes?.[i] ?? 0);
    if (to < length) return timingBuffer.nextTurn().then(() => setFrom(to));
    const named = timingBuffer.saveNames();
    return named && written(named);
  };
  return timingBuffer.hasRoom ? setFrom(0) : timingBuffer.makeRoom().then(() => setFrom(0));
}

/** Puts a run that may be refused or already recorded, or that is large. */
async function recordInTables(parts: Parts, toPut: RunToPut): Promise<Saving<Recorded>> {
  const release = parts.runs.holdNode(toPut);
  try {
    const [outcome] = await commit(parts, () => putRuns(parts, [toPut]));
    if (typeof outcome === 'string') return { value: outcome, saved: null };
    // The times of earlier runs count first.
    await parts.runs.applied;
    try {
      await applyTimes(parts, toPut.run, outcome!);
      parts.timingBuffer.markApplied(toPut.entry);
    } catch {
      // The run is recorded all the same, and its client must not send it again. The next start applies its times: `pendingRuns` has it.
    }
    return { value: 'recorded', saved: null };
  } finally {
    release();
  }
}
