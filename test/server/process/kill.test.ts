import { describe, expect, it } from 'vitest';
import { problemsIn } from '../../harness/problems.js';
import { temporaryFolder } from '../../harness/temporary-folder.js';
import { Ci, runNode } from './ci.js';

const NODES = 6;
const RECORDERS = 4;
const ROUNDS = 2;
const FILES = 300;
/**
 * Answers of queues before each restart: all together fewer than one queue needs to become empty, which are about 125, and under 100 on a loaded
 * machine, whose pauses it takes for the cost of a pull.
 */
const PULLS = 30;

const key = { branch: 'main', node_total: NODES };
const paths = Array.from({ length: FILES }, (_, i) => `spec/${i}_spec.rb`);

interface Recorder {
  /** Paths of runs that were answered with 201, by build. */
  acknowledged: Map<string, string[]>;
}

/** Records run after run of one node, in builds that others record too, until told to stop. */
async function record(ci: Ci, node_index: number, isOver: () => boolean): Promise<Recorder> {
  const acknowledged = new Map<string, string[]>();
  for (let run = 0; !isOver(); run++) {
    const commit_hash = `recorded-${run % 20}`;
    const path = `spec/node_${node_index}_run_${run}_spec.rb`;
    const body = { ...key, commit_hash, node_index, test_files: [{ path, time_execution: 1 }] };
    const reply = await ci.post('/v1/build_subsets', body, attempt => ({ 'X-Retry-Count': String(attempt) }));
    if (reply.status !== 201) throw new Error(`a run was answered with ${reply.status}: ${reply.text}`);
    acknowledged.set(commit_hash, [...(acknowledged.get(commit_hash) ?? []), path]);
  }
  return { acknowledged };
}

/** Nodes pull from a queue. Returns their batches. */
async function drain(ci: Ci, commit_hash: string, uuids: boolean): Promise<string[][]> {
  const node = { ...key, commit_hash, node_build_id: 1 };
  const nodes = Array.from({ length: NODES }, (_, node_index) => runNode(ci, { ...node, node_index }, paths, uuids));
  return (await Promise.all(nodes)).flat();
}

/** Nodes pull from two queues, with uuids and without, and record, while the server is stopped and started again, time after time. */
async function runThrough(ci: Ci, signal: 'SIGKILL' | 'SIGTERM') {
  await ci.server;
  let over = false;
  const recorders = Array.from({ length: RECORDERS }, (_, index) => record(ci, index, () => over));
  const codes: (number | null)[] = [];
  let drained = false;
  const queues = [drain(ci, 'with uuids', true), drain(ci, 'without uuids', false)];
  for (const queue of queues) void queue.finally(() => (drained = true));
  for (let round = 0; round < ROUNDS; round++) {
    await ci.pulls(PULLS);
    expect(drained, 'a queue was empty before the server was stopped').toBe(false);
    codes.push(await ci.restart(signal));
  }
  const [withUuids, withoutUuids] = (await Promise.all(queues)) as [string[][], string[][]];
  over = true;
  return { codes, withUuids, withoutUuids, recorded: await Promise.all(recorders) };
}

async function expectAllRecorded(ci: Ci, recorded: readonly Recorder[]): Promise<void> {
  expect(await problemsIn(ci.dataDir)).toEqual([]);
  const server = await ci.server;
  const builds = (await server.get('/v1/builds')).json.data as { id: string; commit_hash: string }[];
  let checked = 0;
  for (const { id, commit_hash } of builds) {
    const { build_subsets } = (await server.get(`/v1/builds/${id}`)).json as {
      build_subsets: { test_files: { path: string }[] }[];
    };
    const stored = build_subsets.flatMap(subset => subset.test_files.map(({ path }) => path));
    const acknowledged = recorded.flatMap(recorder => recorder.acknowledged.get(commit_hash) ?? []);
    expect(
      acknowledged.filter(path => !stored.includes(path)),
      'acknowledged and gone',
    ).toEqual([]);
    expect(new Set(stored).size, 'nothing is stored twice').toBe(stored.length);
    checked += acknowledged.length;
  }
  expect(checked).toBe(recorded.flatMap(({ acknowledged }) => [...acknowledged.values()].flat()).length);
  expect(checked).toBeGreaterThan(ROUNDS * 10);
}

/** Expects every measured time to count, also those recorded just before a kill. */
async function expectAllLearnt(ci: Ci, recorded: readonly Recorder[]): Promise<void> {
  const server = await ci.server;
  const measured = recorded.flatMap(({ acknowledged }) => [...acknowledged.values()].flat());
  const { test_files: planned } = (
    await server.post('/v1/build_distributions/subset', {
      ...{ commit_hash: 'next', branch: 'main', node_total: 1, node_index: 0, ci_build_id: 1 },
      ...{ fixed_test_suite_split: true, cache_read_attempt: false, test_files: measured.map(path => ({ path })) },
    })
  ).json as { test_files: { path: string; time_execution: number | null }[] };
  expect(planned.length).toBe(measured.length);
  expect(planned.filter(({ time_execution }) => time_execution !== 1)).toEqual([]);
}

const countByPath = (batches: readonly string[][]) => {
  const counts = new Map(paths.map(path => [path, 0]));
  for (const path of batches.flat()) counts.set(path, counts.get(path)! + 1);
  return counts;
};

const filesNotOnce = (batches: readonly string[][]) => [...countByPath(batches)].filter(([, count]) => count !== 1);

describe('a server that is killed in the middle of everything, several times', () => {
  it('keeps every acknowledged run, and hands out every file: once to nodes with uuids, only files under way twice to others', async () => {
    const ci = new Ci(temporaryFolder());
    const { withUuids, withoutUuids, recorded } = await runThrough(ci, 'SIGKILL');
    expect(filesNotOnce(withUuids)).toEqual([]);
    const counts = countByPath(withoutUuids);
    expect([...counts].filter(([, count]) => count === 0)).toEqual([]);
    const largest = Math.max(...withoutUuids.map(batch => batch.length));
    const repeated = [...counts.values()].reduce((sum, count) => sum + count - 1, 0);
    expect(repeated).toBeLessThanOrEqual(ROUNDS * NODES * largest);
    await expectAllRecorded(ci, recorded);
    // Once more, with nothing but what the last kill left.
    await ci.restart('SIGKILL');
    await expectAllLearnt(ci, recorded);
  });
});

describe('a server that is asked to stop in the middle of everything, several times', () => {
  it('ends with status 0, keeps every acknowledged run, and hands out every file exactly once even without uuids', async () => {
    const ci = new Ci(temporaryFolder());
    const { codes, withUuids, withoutUuids, recorded } = await runThrough(ci, 'SIGTERM');
    expect(codes).toEqual(Array(ROUNDS).fill(0));
    expect([...filesNotOnce(withUuids), ...filesNotOnce(withoutUuids)]).toEqual([]);
    await expectAllRecorded(ci, recorded);
  });
});
