import { describe, expect, it } from 'vitest';
import type { Batch } from '../../../../src/server/engine/queue/batch.js';
import { type ExpectedEnd, expectedEnd } from '../../../../src/server/engine/queue/expected-end.js';
import { Queue } from '../../../../src/server/engine/queue/queue.js';
import { toWeight } from '../../../../src/server/planning/weight.js';
import { seededRandom } from '../../../testbed/random.js';
import { NOW, requestOf } from './requests.js';

const NODES = 4;
const PULL_SECONDS = 2;

interface Build {
  batches: Batch[];
  weights: Float64Array;
  /** When each node got nothing more. */
  ended: number[];
}

/** Nodes of these speeds run a queue of 200 files whose estimates are exact. */
function runBuild(speeds: readonly number[]): Build {
  const random = seededRandom(1);
  const seconds = Float64Array.from({ length: 200 }, () => 1 + 9 * random())
    .sort()
    .reverse();
  const weights = seconds.map(toWeight);
  const queue = new Queue(weights, { nodeTotal: NODES, pullCost: toWeight(PULL_SECONDS), isGuessed: false });
  const ready = Array.from({ length: NODES }, () => NOW);
  const ended: number[] = [];
  const batches: Batch[] = [];
  for (let working = NODES; working > 0; ) {
    const node_index = ready.indexOf(Math.min(...ready));
    const handed = queue.pull(requestOf({ node_index, isFirstRequest: ready[node_index] === NOW }), ready[node_index]!);
    if (!handed) {
      ended[node_index] = ready[node_index]!;
      ready[node_index] = Infinity;
      working -= 1;
      continue;
    }
    batches.push(structuredClone(handed.batch));
    queue.delivered(handed.batch.seq);
    const work = handed.batch.files.reduce((sum, file) => sum + seconds[file]!, 0);
    ready[node_index]! += 1000 * (PULL_SECONDS + work / speeds[node_index]!);
  }
  return { batches, weights, ended };
}

/** Expected end at a part of a build. */
function expectedAt({ batches, weights, ended }: Build, part: number): ExpectedEnd & { now: number } {
  const now = NOW + part * (Math.max(...ended) - NOW);
  const handed = batches.filter(({ handed_at }) => handed_at <= now);
  const filesLeft = weights.length - handed.reduce((sum, { files }) => sum + files.length, 0);
  const hasRecorded = (node: number) => ended[node]! <= now;
  return { ...expectedEnd({ nodeTotal: NODES, batches: handed, weights, filesLeft, hasRecorded }, now)!, now };
}

describe('the expected end of a queue', () => {
  it.each([0, 0.25, 0.5, 0.75, 0.95])('is less than a thirtieth of the build away after %d of it, when its estimates are exact', part => {
    const build = runBuild([1, 1, 1, 1]);
    const wall = Math.max(...build.ended) - NOW;
    const { at, earliest, latest } = expectedAt(build, part);
    expect(Math.abs(at - NOW - wall) / wall).toBeLessThan(1 / 30);
    expect(earliest - NOW).toBeLessThanOrEqual(wall);
    expect(latest - NOW).toBeGreaterThanOrEqual(wall);
  });

  it('is found when some nodes are slower, once they have ended a batch', () => {
    const build = runBuild([1.2, 1, 1, 0.8]);
    const wall = Math.max(...build.ended) - NOW;
    expect(Math.abs(expectedAt(build, 0.8).at - NOW - wall) / wall).toBeLessThan(1 / 30);
  });

  it('lies in a wider interval if the project has learned nothing', () => {
    const { batches, weights } = runBuild([1, 1, 1, 1]);
    const widthOf = (all: readonly Batch[]) => {
      const { earliest, latest } = expectedEnd({ nodeTotal: NODES, batches: all, weights, filesLeft: 9, hasRecorded: () => false }, NOW)!;
      return latest - earliest;
    };
    const first = batches.slice(0, NODES);
    const learned = first.map(batch => ({ ...batch, decision: batch.decision!.with(3, 1010) }));
    expect(widthOf(first)).toBeGreaterThan(1.5 * widthOf(learned));
  });

  it('is not before now when the last batches are overdue, nor after twice what they were to take', () => {
    const build = runBuild([1, 1, 1, 1]);
    const late = Math.round(Math.max(...build.ended)) + 5000;
    const all = { nodeTotal: NODES, batches: build.batches, weights: build.weights, filesLeft: 0 };
    const { at, earliest, latest } = expectedEnd({ ...all, hasRecorded: () => false }, late)!;
    expect(at).toBeGreaterThan(late);
    expect(at - late).toBeLessThanOrEqual(late - Math.min(...build.ended));
    expect([earliest >= late, latest > at]).toEqual([true, true]);
    expect(expectedEnd({ ...all, hasRecorded: () => true }, late)!.at).toBe(late);
  });

  it('moves with nodes that are overdue while files are left, and is unknown when none is at work', () => {
    const { batches, weights } = runBuild([1, 1, 1, 1]);
    const first = batches.slice(0, NODES);
    const filesLeft = weights.length - first.flatMap(({ files }) => files).length;
    const endAt = (now: number, hasEnded = false) =>
      expectedEnd({ nodeTotal: NODES, batches: first, weights, filesLeft, hasRecorded: () => hasEnded }, now);
    const hour = NOW + 3_600_000;
    expect(endAt(hour + 60_000)!.at - endAt(hour)!.at).toBe(60_000);
    expect(endAt(hour, true)).toBeNull();
    // A clock that was set back.
    expect(endAt(NOW - 3_600_000)!.at - (NOW - 3_600_000)).toBe(endAt(NOW)!.at - NOW);
  });

  it('is unknown before the planner has sized a batch, and for a queue of guesses', () => {
    const weights = new Float64Array(10).fill(toWeight(1));
    expect(expectedEnd({ nodeTotal: 2, batches: [], weights, filesLeft: 10, hasRecorded: () => false }, NOW)).toBeNull();
    const queue = new Queue(weights, { nodeTotal: 2, pullCost: 0, isGuessed: true });
    queue.pull(requestOf({ isFirstRequest: true }), NOW);
    expect(queue.expectedEnd(NOW)).toBeNull();
  });
});
