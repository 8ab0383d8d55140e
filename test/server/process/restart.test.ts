import { describe, expect, it } from 'vitest';
import {
  manyPaths,
  pathsIn,
  pull as pullBatch,
  readSplit,
  record as recordRun,
  sortPaths,
  startSplit,
  testFiles,
} from '../../harness/messages.js';
import { type ServerProcess, spawnServer } from '../../harness/process.js';
import { temporaryFolder } from '../../harness/temporary-folder.js';

const nodes = { branch: 'main', node_total: 3 };

type Check = (after: ServerProcess) => Promise<void>;

const pull = (server: ServerProcess, node_index: number, batch_uuid: string, given: object) =>
  pullBatch(server, { ...nodes, node_index, batch_uuid, ...given });

const record = (server: ServerProcess, commit_hash: string, node_index: number) =>
  recordRun(server, { ...nodes, commit_hash, node_index, test_files: [{ path: manyPaths(1)[0]!, time_execution: 5 }] });

/** Records a build and splits its suite in three ways. Returns a check that all of them are unchanged. */
async function useSplits(before: ServerProcess, commit_hash: string): Promise<Check> {
  for (const node_index of [0, 1]) await record(before, commit_hash, node_index);
  const variants = [
    { commit_hash },
    { commit_hash: `${commit_hash}, large` },
    { commit_hash, fixed_test_suite_split: false, ci_build_id: 7 },
  ];
  for (const [i, count] of [50, 1200, 40].entries()) await startSplit(before, manyPaths(count), { ...nodes, ...variants[i] });
  const splitsOf = async (server: ServerProcess) => {
    const texts: string[] = [];
    for (const given of variants)
      for (const node_index of [0, 1, 2]) texts.push((await readSplit(server, { ...nodes, node_index, ...given })).text);
    return texts;
  };
  const splits = await splitsOf(before);
  const [build] = (await before.get(`/v1/builds?commit_hash=${commit_hash}`)).json.data;
  const detail = (await before.get(`/v1/builds/${build.id}`)).text;
  return async after => {
    expect(await splitsOf(after)).toEqual(splits);
    expect((await after.get(`/v1/builds/${build.id}`)).text).toBe(detail);
  };
}

/** Pulls from a queue. Returns a check that it repeats its last batch, hands out the rest once, and is remembered when it is drained. */
async function useQueue(before: ServerProcess, commit_hash: string): Promise<Check> {
  const start = { commit_hash, can_initialize_queue: true, test_files: testFiles(manyPaths(30)) };
  const first = await pull(before, 0, 'u-0', start);
  const second = await pull(before, 1, 'u-1', { commit_hash });
  return async after => {
    expect((await pull(after, 0, 'u-0', { commit_hash })).text).toBe(first.text);
    expect((await pull(after, 0, 'u-0', { ...start, attempt_connect_to_queue: true, test_files: undefined })).text).toBe(first.text);

    const handed = [...pathsIn(first), ...pathsIn(second)];
    for (let pulls = 0; pulls < 40; pulls++) {
      const reply = await pull(after, pulls % 3, `later-${pulls}`, { commit_hash });
      expect(reply.json.queue_name).toBe(first.json.queue_name);
      handed.push(...pathsIn(reply));
    }
    expect(sortPaths(handed)).toEqual(manyPaths(30));
    expect(pathsIn(await pull(after, 2, 'again', start))).toEqual([]);
  };
}

describe('splits, builds and open queues', () => {
  it('are unchanged after a restart by SIGTERM, and after one by SIGKILL', async () => {
    const dataDir = temporaryFolder();
    let server = await spawnServer({ dataDir });
    for (const [signal, code] of [
      ['SIGTERM', 0],
      ['SIGKILL', null],
    ] as const) {
      const checks = [await useSplits(server, `splits, ${signal}`), await useQueue(server, `queue, ${signal}`)];
      expect(await server.stop(signal)).toBe(code);
      server = await spawnServer({ dataDir });
      for (const check of checks) await check(server);
    }
  });
});
