import { describe, expect, it } from 'vitest';
import type { Client, Reply } from '../harness/client.js';
import { initialise, record, startSplit, timedTestFiles } from '../harness/messages.js';
import { SharedServer } from '../harness/server.js';

const shared = new SharedServer();

/** Records a build of its own with these seconds by path. */
const build = (client: Client, commit_hash: string, seconds: Record<string, number>, more: object = {}) =>
  record(client, { commit_hash, test_files: timedTestFiles(seconds), ...more });

/** Returns the time of each path in a new split over one node. */
async function estimates(client: Client, paths: readonly string[], branch = 'main') {
  return timesOf(await startSplit(client, paths, { node_total: 1, branch, commit_hash: `${paths.join()} ${branch}` }));
}

function timesOf({ json }: Reply): Record<string, number | null> {
  return Object.fromEntries(json.test_files.map((file: any) => [file.path, file.time_execution]));
}

describe('time_execution in answers', () => {
  it('is the recorded value of a path recorded once, in both modes', async () => {
    const client = await shared.project();
    const seconds = { 'a_spec.rb': 0.1 + 0.2, 'b_spec.rb': 41.5, 'c_spec.rb': 0.00004 };
    await build(client, 'c1', seconds);
    expect(await estimates(client, Object.keys(seconds))).toEqual(seconds);
    const queue = await initialise(client, Object.keys(seconds), { node_total: 1 });
    expect(timesOf(queue)).toEqual(seconds);
  });

  it('is null for a path never recorded, and for one that was only scheduled', async () => {
    const client = await shared.project();
    await build(client, 'c1', { 'a_spec.rb': 10, 'b_spec.rb': 0 });
    expect(await estimates(client, ['a_spec.rb', 'b_spec.rb', 'c_spec.rb'])).toEqual({
      'a_spec.rb': 10,
      'b_spec.rb': null,
      'c_spec.rb': null,
    });
  });

  it('is that of the branch, else of the default branch, else of any branch', async () => {
    const client = await shared.project();
    await build(client, 'c1', { 'a_spec.rb': 10, 'b_spec.rb': 10 });
    await build(client, 'c2', { 'a_spec.rb': 20, 'c_spec.rb': 20 }, { branch: 'feature' });
    const paths = ['a_spec.rb', 'b_spec.rb', 'c_spec.rb'];
    expect(await estimates(client, paths, 'feature')).toEqual({ 'a_spec.rb': 20, 'b_spec.rb': 10, 'c_spec.rb': 20 });
    expect(await estimates(client, paths, 'new')).toEqual({ 'a_spec.rb': 10, 'b_spec.rb': 10, 'c_spec.rb': 20 });
  });

  it('of a file is the sum of its test cases while only they are recorded', async () => {
    const client = await shared.project();
    await build(client, 'c1', { 'test/a.py::test_one': 2, 'test/a.py::TestB::test_two[x/y]': 3, 'test/b.py': 4 });
    expect(await estimates(client, ['test/a.py', 'test/b.py', 'test/c.py'])).toEqual({
      'test/a.py': 5,
      'test/b.py': 4,
      'test/c.py': null,
    });
  });
});

describe('a new file', () => {
  it('is expected to take as long as other files in its directory', async () => {
    const client = await shared.project();
    const slow = ['slow/a_spec.rb', 'slow/b_spec.rb', 'slow/c_spec.rb'];
    const fast = ['fast/a_spec.rb', 'fast/b_spec.rb', 'fast/c_spec.rb', 'fast/d_spec.rb'];
    await build(client, 'c1', Object.fromEntries([...slow.map(path => [path, 60]), ...fast.map(path => [path, 1])]));
    const orderWith = async (path: string) => {
      const { json } = await startSplit(client, [...slow, ...fast, path], { node_total: 1, commit_hash: path });
      return json.test_files.findIndex((file: any) => file.path === path);
    };
    expect(await orderWith('slow/new_spec.rb')).toBeLessThanOrEqual(slow.length);
    expect(await orderWith('fast/deep/new_spec.rb')).toBeGreaterThanOrEqual(slow.length);
  });

  it('comes earlier in a queue than in a split', async () => {
    const client = await shared.project();
    const seconds = Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`spec/${i}_spec.rb`, i + 1]));
    await build(client, 'c1', seconds);
    const paths = [...Object.keys(seconds), 'spec/new_spec.rb'];
    const placeIn = ({ json }: Reply) => json.test_files.findIndex((file: any) => file.path === 'spec/new_spec.rb');
    const inSplit = placeIn(await startSplit(client, paths, { node_total: 1 }));
    const inQueue = placeIn(await initialise(client, paths, { node_total: 1 }));
    expect([inSplit, inQueue]).toEqual([5, 2]);
  });
});
