import type { NodeKey } from '../../engine/build-key.js';
import { buildDigest } from '../../engine/keys.js';
import type { NewRun, Recorded, Recordings } from '../../engine/ports/recordings.js';
import type { Millis } from '../../engine/ports/store.js';
import { type Segments, segment } from '../../engine/segments.js';
import { limits } from '../../limits.js';
import { newSubset, setTime, timesOf } from './codecs/subset-codec.js';
import type { Parts } from './parts.js';
import { applyTimes } from './writes/apply-times.js';
import { commit, written } from './writes/commit.js';
import { type NewSubset, putSubsets } from './writes/put-subsets.js';

export function lmdbRecordings(parts: Parts) {
  return { record: (project, key, run, isRetry, at) => record(parts, project, key, run, isRetry, at) } satisfies Recordings;
}

async function record(parts: Parts, project: number, key: NodeKey, run: NewRun, isRetry: boolean, at: Millis): Promise<Recorded> {
  const { diskSpace, timingBuffer, runs, journal } = parts;
  diskSpace.assert();
  if (!timingBuffer.hasRoom) await timingBuffer.makeRoom();
  const { seconds, hasTestCases, ci_run: ciRun } = run;
  const bytes = newSubset({ created_at: at, ciRun }, seconds.length);
  const times = timesOf(bytes);
  for (let i = 0; i < seconds.length; i++) {
    if (i > 0 && i % limits.timingsPerTurn === 0) await timingBuffer.nextTurn();
    setTime(times, i, timingBuffer.intern(project, pathOf(run, i), at), seconds[i]!);
  }
  const named = timingBuffer.saveNames();
  if (named) await written(named);
  const build = buildDigest(project, key);
  const subset: NewSubset = { project, key, build, hasTestCases, isRetry, at, entry: timingBuffer.nextEntry(), bytes };
  // Nothing of the store can refuse the first run of a node, so the journal is enough. A large run would only be written twice.
  if (bytes.length > limits.journaledRunBytes || runs.mayHaveRun(subset)) return recordNow(parts, subset);
  await journal.writeRun(subset);
  return 'recorded';
}

/** Puts a run that may be refused or known, or that is large. */
async function recordNow(parts: Parts, subset: NewSubset): Promise<Recorded> {
  const release = parts.runs.hold(subset);
  try {
    const [outcome] = await commit(parts, () => putSubsets(parts, [subset]));
    if (typeof outcome === 'string') return outcome;
    // The times of earlier runs count first.
    await parts.runs.applied;
    await applyTimes(parts, subset.bytes, outcome!);
    parts.timingBuffer.markApplied(subset.entry);
    return 'recorded';
  } finally {
    release();
  }
}

function pathOf({ paths }: NewRun, i: number): string {
  return Array.isArray(paths) ? (paths as readonly string[])[i]! : segment(paths as Segments, i).toString();
}
