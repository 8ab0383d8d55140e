import { describe, expect, it } from 'vitest';
import type { BuildFailures } from '../../../src/server/engine/ports/failures.js';
import { Clock } from '../../harness/clock.js';
import { manyPaths, record, startSplit } from '../../harness/messages.js';
import { startServer } from '../../harness/server.js';

const SUITE = manyPaths(30);
const [A] = SUITE as [string];

interface CiRun {
  /** The outcomes of files that did not pass. */
  outcomes?: Record<string, string>;
  suite?: readonly string[];
  commit_hash?: string;
  branch?: string;
  keys?: string[];
  tells?: boolean;
  /** Seconds that each file took. */
  seconds?: number;
}

async function begin() {
  const clock = new Clock();
  const server = await startServer({}, clock.now);
  let ciRuns = 0;
  /** Plays a CI run of two nodes by a split, in which each node runs half of the files in a minute. */
  const play = async ({ outcomes = {}, suite = SUITE, keys = [], tells = true, seconds = 1, ...build }: CiRun = {}) => {
    const ci_build_id = String(++ciRuns);
    const ofNode = (node_index: number) => ({ node_index, ci_build_id, ...build });
    const checkout = { tree: 'a'.repeat(40), proof_keys: keys };
    const parts: string[][] = [];
    for (const node of [0, 1]) {
      const { json } = await startSplit(server, suite, { ...ofNode(node), fixed_test_suite_split: false, ...checkout });
      parts.push((json.test_files as { path: string }[]).map(({ path }) => path));
    }
    await server.service.nodesNoted();
    clock.advance({ seconds: 60 });
    const recordAll = async (node: number, paths: readonly string[], told: Record<string, string>) => {
      const test_files = paths.map(path => ({ path, time_execution: seconds, ...(told[path] && { outcome: told[path] }) }));
      await record(server, { ...ofNode(node), tells_outcomes: tells, test_files });
    };
    for (const [node, paths] of parts.entries()) await recordAll(node, paths, outcomes);
    return { parts, again: recordAll };
  };
  const kept = async (): Promise<BuildFailures[]> => {
    await server.service.summarize();
    return (await server.store.failures.newest(1, 100)).map(({ failures }) => failures);
  };
  const numberOf = async (path: string) => (await server.store.builds.pathNumber(1, path))!;
  return { clock, server, play, kept, numberOf };
}

describe('what failed in a build', () => {
  it('is kept when its summary is written: a file that passed when the build was started again is flaky', async () => {
    const { clock, play, kept, numberOf } = await begin();
    const began = clock.now();
    await play({ outcomes: { [A]: 'failed' } });
    expect(await kept()).toMatchObject([{ at: began, outages: [], files: [{ path: await numberOf(A), isFlaky: false, seconds: 0 }] }]);
    clock.advance({ seconds: 540 });
    await play();
    const price = { seconds: 30, later: 600 };
    expect(await kept()).toMatchObject([
      { at: began + 600_000, outages: [], files: [{ path: await numberOf(A), isFlaky: true, ...price }] },
    ]);
  });

  it('is kept of a job that was started again in the same CI run', async () => {
    const { clock, play, kept, numberOf } = await begin();
    const { parts, again } = await play({ outcomes: { [A]: 'failed' } });
    const node = parts.findIndex(paths => paths.includes(A));
    clock.advance({ seconds: 300 });
    await again(node, [A], {});
    const price = { node_index: node, seconds: 1, later: 300 };
    expect(await kept()).toEqual([expect.objectContaining({ files: [{ path: await numberOf(A), isFlaky: true, ...price }] })]);
  });

  it.each<[situation: string, second: CiRun]>([
    ['another list', { suite: SUITE.slice(0, 20) }],
    ['another key', { keys: ['1'.repeat(64)] }],
  ])('is not compared with a CI run that had %s', async (_, second) => {
    const { play, kept } = await begin();
    await play({ outcomes: { [A]: 'failed' } });
    await play(second);
    expect(await kept()).toEqual([]);
  });

  it('is not compared with another commit or branch', async () => {
    const { play, kept } = await begin();
    await play({ outcomes: { [A]: 'failed' } });
    for (const other of [{ commit_hash: 'other' }, { branch: 'other' }]) await play(other);
    expect(await kept()).toMatchObject([{ files: [{ isFlaky: false }] }]);
  });

  it('is an outage if many files failed that had not failed before', async () => {
    const { play, kept } = await begin();
    const { parts } = await play();
    const all = Object.fromEntries(parts[1]!.map(path => [path, 'failed']));
    await play({ commit_hash: 'next', outcomes: all });
    expect(await kept()).toMatchObject([{ outages: [{ node_index: null, files: 15 }], files: [] }]);
  });

  it('is not kept of clients that tell no outcomes', async () => {
    const { play, kept } = await begin();
    await play({ tells: false });
    expect(await kept()).toEqual([]);
  });
});
