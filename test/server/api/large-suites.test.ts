import { afterAll, describe, expect } from 'vitest';
import type { Client } from '../../harness/client.js';
import {
  initialise,
  manyPaths,
  pathsIn,
  pullAll,
  readSplit,
  record,
  sortPaths,
  startSplit,
  timedTestFiles,
} from '../../harness/messages.js';
import { SharedServer, testsWith } from '../../harness/server.js';
import { temporaryFolder } from '../../harness/temporary-folder.js';

/** Two worker threads for all tests, as each loads the program. */
const it = testsWith(new SharedServer({ dataDir: temporaryFolder(afterAll), workers: '2' }));

const NODES = 6;
const nodes = Array.from({ length: NODES }, (_, node_index) => ({ node_total: NODES, node_index }));

/** Records a time for three of every four files. Returns the times by path. */
async function measure(client: Client, paths: readonly string[]): Promise<Record<string, number>> {
  const times = Object.fromEntries(paths.map((path, i) => [path, 1 + ((i * 37) % 100)] as const).filter((_, i) => i % 4 > 0));
  await record(client, { test_files: timedTestFiles(times) });
  return times;
}

describe('a suite around 1,000 files', () => {
  it.for([999, 1000, 1001])('of %i is split evenly, with each file once', async (count, { server }) => {
    const paths = manyPaths(count);
    const times = await measure(server, paths);
    const replies = [await startSplit(server, paths, nodes[0])];
    for (const node of nodes.slice(1)) replies.push(await readSplit(server, node));
    expect(new Set(replies.map(({ json }) => json.build_distribution_id)).size).toBe(1);
    expect(sortPaths(replies.flatMap(pathsIn))).toEqual(paths);
    for (const { path, time_execution } of replies.flatMap(({ json }) => json.test_files)) expect(time_execution).toBe(times[path] ?? null);
    // A file that was never measured is expected to take at most as long as the slowest one.
    const loads = replies.map(reply => pathsIn(reply).reduce((sum, path) => sum + (times[path] ?? 75), 0));
    expect(Math.max(...loads) - Math.min(...loads)).toBeLessThanOrEqual(200);
  });

  it.for([999, 1001])('of %i is handed out by a queue, each file once', async (count, { server }) => {
    const paths = manyPaths(count);
    const times = await measure(server, paths);
    const first = await initialise(server, paths, nodes[0]);
    expect(first.json.test_files[0].time_execution).toBe(Math.max(...Object.values(times)));
    const rest = await Promise.all(nodes.map(node => pullAll(server, node)));
    expect(sortPaths([...pathsIn(first), ...rest.flat()])).toEqual(paths);
  });

  it('of 1,001 is compared with a short list, and other lists of the request are ignored', async ({ server }) => {
    for (const [i, count] of [1001, 10].entries())
      expect((await initialise(server, manyPaths(count), { ...nodes[i], paths: [] })).status).toBe(200);
  });
});
