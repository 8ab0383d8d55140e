import { describe, expect } from 'vitest';
import { digestOfList } from '../../../src/protocol/list-digest.js';
import { refusal } from '../../harness/client.js';
import {
  initialise,
  pathsIn,
  pullAll,
  readSplit,
  record,
  sortPaths,
  splitMessage,
  startSplit,
  testFiles,
  timedTestFiles,
  uuidPattern,
} from '../../harness/messages.js';
import { SharedServer, testsWith } from '../../harness/server.js';

const it = testsWith(new SharedServer());

const CACHE_MISS = { code: 'TEST_SUITE_SPLIT_CACHE_MISS' };

describe('POST /build_distributions/subset', () => {
  it('asks the first node for the list, and knows the split from then on', async ({ server }) => {
    expect(await readSplit(server)).toMatchObject({ status: 200, json: CACHE_MISS });
    const first = await startSplit(server, ['a_spec.rb', 'b_spec.rb', 'c_spec.rb']);
    expect(first.status).toBe(200);
    expect(first.json).toEqual({
      build_distribution_id: expect.stringMatching(uuidPattern),
      node_index: 0,
      test_files: expect.any(Array),
    });
    const second = await readSplit(server, { node_index: 1 });
    expect(second.json).toMatchObject({ build_distribution_id: first.json.build_distribution_id, node_index: 1 });
    expect(sortPaths([...pathsIn(first), ...pathsIn(second)])).toEqual(['a_spec.rb', 'b_spec.rb', 'c_spec.rb']);
    for (const { time_execution } of [...first.json.test_files, ...second.json.test_files]) {
      expect(time_execution).toBeNull();
    }
    expect((await readSplit(server)).json).toEqual(first.json);
  });

  it('splits evenly by recorded times, lists slow files first, and has null for an unknown time', async ({ server }) => {
    await record(server, { test_files: timedTestFiles({ 'one.rb': 1, 'eight.rb': 8, 'three.rb': 3, 'four.rb': 4 }) });
    const paths = ['one.rb', 'three.rb', 'four.rb', 'eight.rb'];
    const nodes = [await startSplit(server, paths), await readSplit(server, { node_index: 1 })];
    const files = nodes.map(({ json }) => json.test_files).sort((a, b) => a.length - b.length);
    expect(files).toEqual([timedTestFiles({ 'eight.rb': 8 }), timedTestFiles({ 'four.rb': 4, 'three.rb': 3, 'one.rb': 1 })]);

    const other = await startSplit(server, [...paths, 'new.rb'], { branch: 'other', node_total: 1 });
    expect(other.json.test_files).toContainEqual({ path: 'new.rb', time_execution: null });
    expect(other.json.test_files).toContainEqual({ path: 'eight.rb', time_execution: 8 });
  });

  it('has the recorded value of a path recorded once, as a queue has', async ({ server }) => {
    const test_files = timedTestFiles({ 'b_spec.rb': 41.5, 'a_spec.rb': 0.1 + 0.2, 'c_spec.rb': 0.00004 });
    await record(server, { test_files });
    const paths = test_files.map(({ path }) => path);
    for (const start of [startSplit, initialise])
      expect((await start(server, paths, { node_total: 1 })).json.test_files).toEqual(test_files);
  });

  it('lists a new file later than a queue does', async ({ server }) => {
    const seconds = Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`spec/${i}_spec.rb`, i + 1]));
    await record(server, { test_files: timedTestFiles(seconds) });
    const paths = [...Object.keys(seconds), 'spec/new_spec.rb'];
    const replies = [await startSplit(server, paths, { node_total: 1 }), await initialise(server, paths, { node_total: 1 })];
    expect(replies.map(reply => pathsIn(reply).indexOf('spec/new_spec.rb'))).toEqual([5, 2]);
  });

  it('returns the same fixed split to each CI run of a build, even with another list', async ({ server }) => {
    const first = await startSplit(server, ['a_spec.rb', 'b_spec.rb', 'c_spec.rb']);
    expect((await readSplit(server, { ci_build_id: '200' })).json).toEqual(first.json);
    const changed = await startSplit(server, ['d_spec.rb'], { ci_build_id: 300, fixed_test_suite_split: true });
    expect(changed.json).toEqual(first.json);
    for (const other of [{ commit_hash: 'next' }, { branch: 'next' }, { node_total: 3 }]) {
      expect((await readSplit(server, other)).json).toEqual(CACHE_MISS);
    }
  });

  it('creates a split for each CI run when it is not fixed', async ({ server }) => {
    const dynamic = { fixed_test_suite_split: false };
    const first = await startSplit(server, ['a_spec.rb', 'b_spec.rb'], dynamic);
    expect((await readSplit(server, dynamic)).json).toEqual(first.json);
    expect((await readSplit(server, { ...dynamic, ci_build_id: '200' })).json).toEqual(CACHE_MISS);
    const second = await startSplit(server, ['c_spec.rb'], { ...dynamic, ci_build_id: '200' });
    expect(pathsIn(second)).toEqual(['c_spec.rb']);
    expect(second.json.build_distribution_id).not.toBe(first.json.build_distribution_id);
    expect((await readSplit(server, dynamic)).json).toEqual(first.json);
  });

  it('returns each path as it was sent, with any characters', async ({ server }) => {
    const odd = ['a},{', 'b","time_execution":1},{"path":"c', '\\"},{"p', '},{"path', 'größe/漢/\u0001\u001f', '{}[],:'];
    await startSplit(server, odd, { node_total: 2 });
    const nodes = await Promise.all([0, 1].map(node_index => readSplit(server, { node_total: 2, node_index })));
    expect(sortPaths(nodes.flatMap(pathsIn))).toEqual(sortPaths(odd));
    const queue = { node_total: 1, node_build_id: 'odd' };
    await initialise(server, odd, { ...queue, skip_pull: true });
    expect(sortPaths(await pullAll(server, queue))).toEqual(sortPaths(odd));
  });

  it('serves an old client, which does not send cache_read_attempt', async ({ server }) => {
    const old = { cache_read_attempt: undefined, fixed_test_suite_split: undefined, node_total: 1 };
    const first = await startSplit(server, ['a_spec.rb'], old);
    expect(pathsIn(first)).toEqual(['a_spec.rb']);
    expect((await startSplit(server, ['a_spec.rb'], old)).json).toEqual(first.json);
    const message = splitMessage({ ...old, test_files: [] });
    expect(await server.post('/v1/build_distributions/subset', message)).toMatchObject(
      refusal(422, { test_files: ['parameter is required'] }),
    );
  });

  it.for([
    [
      'a file more',
      ['a_spec.rb', 'b_spec.rb', 'c_spec.rb'],
      'made of 2 test files, and this node lists 3: none only in the split, "c_spec.rb" only on this node',
    ],
    ['a file less', ['b_spec.rb'], 'made of 2 test files, and this node lists 1: "a_spec.rb" only in the split, none only on this node'],
    ['another suite', ['x.test.js', 'y.test.js'], '"a_spec.rb", "b_spec.rb" only in the split, "x.test.js", "y.test.js" only on this node'],
  ] as const)('refuses a split to a node whose digest says that it lists %s', async ([_, paths, names], { server }) => {
    const test_files_digest = digestOfList(paths);
    await startSplit(server, ['b_spec.rb', 'a_spec.rb']);
    // A node that only reads must send its list.
    expect((await readSplit(server, { node_index: 1, test_files_digest })).json).toEqual(CACHE_MISS);
    const refused = await startSplit(server, paths, { node_index: 1, test_files_digest });
    expect(refused.status).toBe(409);
    expect(refused.json.errors).toEqual([expect.stringContaining(names)]);
    expect(refused.json.errors[0]).toContain('--dynamic');
    const dynamic = { fixed_test_suite_split: false, node_index: 1 };
    await startSplit(server, ['b_spec.rb', 'a_spec.rb'], dynamic);
    const ofRun = await startSplit(server, paths, { ...dynamic, test_files_digest });
    expect(ofRun.json.errors).toEqual([expect.stringMatching(/ another list needs another CI run \(ci_build_id; BALLAST_BUILD_ID\)$/)]);
    const same = await readSplit(server, { node_index: 1, test_files_digest: digestOfList(['a_spec.rb', 'b_spec.rb']) });
    expect(pathsIn(same)).toHaveLength(1);
  });

  it('creates the split of one of two nodes whose digests differ, and refuses it to the other', async ({ server }) => {
    const start = (paths: string[], node_index: number) =>
      startSplit(server, paths, { node_index, test_files_digest: digestOfList(paths) });
    const replies = await Promise.all([start(['a_spec.rb', 'b_spec.rb'], 0), start(['c_spec.rb'], 1)]);
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 409]);
  });

  it('ignores a list that comes with an attempt to read the cache', async ({ server }) => {
    expect(await readSplit(server, { test_files: testFiles(['a_spec.rb']) })).toMatchObject({ status: 200, json: CACHE_MISS });
    expect((await readSplit(server)).json).toEqual(CACHE_MISS);
  });
});
