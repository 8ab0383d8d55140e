import { describe, expect, it } from 'vitest';
import type { FlakyAnswer } from '../../src/protocol/answers/flaky.js';
import { noSettings } from '../../src/protocol/project-settings.js';
import { manyPaths, record } from '../harness/messages.js';
import { runBallast } from '../harness/process.js';
import { runInProcess } from '../harness/run-in-process.js';
import { startServer, startServerOnDisk, type TestServer } from '../harness/server.js';
import { TestProject } from './test-project.js';

const SUITE = manyPaths(12);

/** Records a CI run of one node, in which each file took so many seconds. */
const play = (server: TestServer, commit_hash: string, ci_build_id: string, outcomes: Record<string, string> = {}, seconds = 10) =>
  record(server, {
    ...{ commit_hash, ci_build_id, node_total: 1, tells_outcomes: true },
    test_files: SUITE.map(path => ({ path, time_execution: seconds, ...(outcomes[path] && { outcome: outcomes[path] }) })),
  });

const list = ({ url, token }: Pick<TestServer, 'url' | 'token'>, ...args: string[]) =>
  runInProcess(['flaky', '--retries', '0', ...args], { BALLAST_URL: url, BALLAST_TOKEN: token });

describe('ballast flaky', () => {
  it('prints a row for each file, what cost most first, and outages', async () => {
    const server = await startServer();
    expect(await list(server)).toMatchObject({ code: 0, stdout: expect.stringContaining('do not tell which test files failed') as string });
    await server.store.access.replaceSettings(1, noSettings, { ...noSettings, price: { amount: 6, currency: 'USD' } });
    await play(server, 'c0', '1');
    await server.service.summarize();
    expect((await list(server)).stdout).toBe('no flaky test file is known\n');
    await play(server, 'c1', '2', { [SUITE[3]!]: 'failed' });
    await play(server, 'c1', '2');
    await play(server, 'c2', '3', { [SUITE[4]!]: 'flaky' });
    await play(server, 'c3', '4', Object.fromEntries(SUITE.map(path => [path, 'failed'])));
    await server.service.summarize();
    const { code, stdout, stderr } = await list(server);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const [head, first, second, outage, ...rest] = stdout.split('\n');
    expect(head!.split(/ {2,}/)).toEqual(['state', 'rate', '90 %', 'flakes', 'ran again', 'cost', 'later', 'took', 'nodes', 'test file']);
    expect(first!.split(/ {2,}/)).toEqual([
      'suspected',
      expect.stringMatching(/^\d+\.\d %$/),
      expect.stringMatching(/^\d.* % to .* %$/),
      '1',
      '2 m 00 s',
      '$12.00',
      expect.any(String),
      '1.0 x',
      '0',
      SUITE[3],
    ]);
    expect(second!.split(/ {2,}/)).toEqual(['suspected', expect.anything(), expect.anything(), '1', '-', '$0.00', '-', '-', '0', SUITE[4]]);
    expect(outage).toMatch(/^outage: 12 test files failed together at commit c3 of main, \d{4}-\d\d-\d\d \d\d:\d\d$/);
    expect(rest).toEqual(['']);
    expect((await list(server, '--limit', '1')).stdout).toContain('\nand 1 test file that cost less: give --limit\n');
    const json = JSON.parse((await list(server, '--json')).stdout);
    expect(json).toEqual((await server.get('/v1/flaky')).json);
  });

  it('has a file that a node of queue --retry-failed ran again, on another node or on its own', async () => {
    const files = Array.from({ length: 8 }, (_, i) => `test/${'x'.repeat(i + 1)}.test.js`);
    for (const nodes of [[0, 1], [0]]) {
      const [server, suite] = [await startServerOnDisk(), new TestProject(files)];
      const queue = (node: number) =>
        runBallast(
          ['queue', 'test/*.test.js', '--junit', `reports/${node}-*.xml`, '--retry-failed', '--flaky-passes', ...suite.runner],
          suite.environment(server, node, { REPORT: `reports/${node}-%.xml`, FLAKY: files[5]! }),
          { cwd: suite.folder },
        );
      expect((await Promise.all(nodes.map(queue))).map(({ code }) => code)).toEqual(nodes.map(() => 0));
      await server.service.summarize();
      const { files: found } = (await server.get('/v1/flaky')).json as FlakyAnswer;
      expect(found).toMatchObject([
        { path: files[5], state: 'suspected', flakes: 1, nodes: [expect.any(Number)], cases: [{ name: 'one', flakes: 1 }] },
      ]);
      // If no other node was free, its node records it once, as flaky. The runner of the test takes a second for each character of a path.
      expect(found[0]!.seconds).toBe(files[5]!.length);
    }
  });

  it('ends with 3 if the server cannot be asked', async () => {
    const { code, stderr } = await list({ url: 'http://127.0.0.1:1', token: 'x' });
    expect(code).toBe(3);
    expect(stderr).toMatch(/^ballast: cannot list the flaky files: no answer from /);
  });
});
