import { type Segments, segment } from '../../bytes.js';
import { buildDigest, type NodeKey } from '../../engine/keys.js';
import type { NewRun, Recorded, Recordings } from '../../engine/ports/recordings.js';
import type { Millis } from '../../engine/ports/store.js';
import { type Saving, type Soon, whenKnown } from '../../engine/soon.js';
import { limits } from '../../limits.js';
import { newSubset, setTime, timesOf } from './codecs/subset-codec.js';
import type { Parts } from './parts.js';
import { applyTimes } from './writes/apply-times.js';
import { commit, written } from './writes/commit.js';
import { type NewSubset, putSubsets } from './writes/put-subsets.js';

export function lmdbRecordings(parts: Parts) {
  return { record: (project, key, run, isRetry, at) => record(parts, project, key, run, isRetry, at) } satisfies Recordings;
}

function record(parts: Parts, project: number, key: NodeKey, run: NewRun, isRetry: boolean, at: Millis): Soon<Saving<Recorded>> {
  parts.diskSpace.assert();
  const bytes = newSubset({ created_at: at, ciRun: run.ci_run }, run.seconds.length);
  return whenKnown(setTimes(parts, project, run, bytes, at), () => {
    const { timingBuffer, runs, journal } = parts;
    const build = buildDigest(project, key);
    const entry = timingBuffer.nextEntry();
    const subset: NewSubset = { project, key, build, hasTestCases: run.hasTestCases, isRetry, at, entry, bytes };
    // Nothing of the store can refuse the first run of a node, so the journal is enough. A large run would only be written twice.
    if (bytes.length > limits.journaledRunBytes || runs.mayHaveRun(subset)) return recordNow(parts, subset);
    return { value: 'recorded', saved: journal.writeRun(subset) };
  });
}

/** Writes the times of a run to its bytes. Its paths have numbers afterwards, on disk, too. */
function setTimes({ timingBuffer }: Parts, project: number, run: NewRun, bytes: Buffer, at: Millis): Soon<unknown> {
  const times = timesOf(bytes);
  const { length } = run.seconds;
  const setFrom = (from: number): Soon<unknown> => {
    const to = Math.min(length, from + limits.timingsPerTurn);
    for (let i = from; i < to; i++) setTime(times, i, timingBuffer.intern(project, pathOf(run, i), at), run.seconds[i]!);
    if (to < length) return timingBuffer.nextTurn().then(() => setFrom(to));
    const named = timingBuffer.saveNames();
    return named && written(named);
  };
  return timingBuffer.hasRoom ? setFrom(0) : timingBuffer.makeRoom().then(() => setFrom(0));
}

/** Puts a run that may be refused or known, or that is large. */
async function recordNow(parts: Parts, subset: NewSubset): Promise<Saving<Recorded>> {
  const release = parts.runs.hold(subset);
  try {
    const [outcome] = await commit(parts, () => putSubsets(parts, [subset]));
    if (typeof outcome === 'string') return { value: outcome, saved: null };
    // The times of earlier runs count first.
    await parts.runs.applied;
    await applyTimes(parts, subset.bytes, outcome!);
    parts.timingBuffer.markApplied(subset.entry);
    return { value: 'recorded', saved: null };
  } finally {
    release();
  }
}

function pathOf({ paths }: NewRun, i: number): string {
  return Array.isArray(paths) ? (paths as readonly string[])[i]! : segment(paths as Segments, i).toString();
}
