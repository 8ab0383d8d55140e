import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Client } from '../harness/client.js';
import { initialise, manyPaths, pathsIn, record, startSplit, timedTestFiles } from '../harness/messages.js';
import { runInProcess } from '../harness/run-in-process.js';
import { startServer } from '../harness/server.js';

const TRIPLE = { commit_hash: 'abc', branch: 'main', node_total: 1 };
const FLAGS = ['--commit-hash', 'abc', '--branch', 'main', '--node-total', '1'];

const verify = ({ url, token }: Pick<Client, 'url' | 'token'>, ...more: string[]) =>
  runInProcess(['verify', ...FLAGS, ...more], { BALLAST_URL: `${url}/`, BALLAST_TOKEN: token });

describe('ballast verify', () => {
  it('ends with 0 if every test file was recorded, before that with 1 and the missing files', async () => {
    const server = await startServer();
    const paths = pathsIn(await initialise(server, manyPaths(30), { ...TRIPLE, node_build_id: '7' }));
    expect(paths).toHaveLength(30);
    const before = await verify(server, '--node-build-id', '7');
    expect({ ...before, stdout: '' }).toEqual({ code: 1, stdout: '', stderr: '' });
    const lines = before.stdout.split('\n');
    expect(lines[0]).toBe('incomplete: 0 of 30 test files of the queue were recorded');
    expect(lines[1]).toMatch(/^error: 30 of 30 test files were handed out and not recorded, to node 0: /);
    expect(lines[2]).toMatch(/^ {2}spec\/models\/model_\d+_spec\.rb {2}\(node 0, handed out at \d{4}-.*Z\)$/);
    expect(lines.slice(-2)).toEqual(['  and 10 more (--json names more of them)', '']);

    await record(server, { ...TRIPLE, test_files: timedTestFiles(Object.fromEntries(paths.map(path => [path, 1]))) });
    expect(await verify(server, '--node-build-id', '7')).toEqual({
      code: 0,
      stdout: 'complete: 30 of 30 test files of the queue were recorded\n',
      stderr: '',
    });
    expect(JSON.parse((await verify(server, '--json', '--newest')).stdout)).toMatchObject({ is_complete: true, recorded: 30 });
  });

  it('waits for a node that is about to record', async () => {
    const server = await startServer();
    const paths = pathsIn(await initialise(server, ['a_spec.rb'], TRIPLE));
    const waiting = verify(server, '--newest', '--wait', '60');
    await record(server, { ...TRIPLE, test_files: timedTestFiles(Object.fromEntries(paths.map(path => [path, 1]))) });
    expect((await waiting).code).toBe(0);
  });

  it('ends with 3 if the server could not be asked', async () => {
    const server = await startServer();
    const refused = await verify({ url: server.url, token: 'x'.repeat(40) }, '--newest');
    expect(refused).toEqual({
      code: 3,
      stdout: '',
      stderr: expect.stringMatching(
        /^ballast: cannot tell whether the build is complete: GET http:.* was refused with 403: invalid test suite token\n$/,
      ) as string,
    });
    const wrong = await runInProcess(['verify', ...FLAGS.slice(0, -1), '0', '--url', server.url, '--token', server.token]);
    expect(wrong).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('it must be a whole number from 1 on (--node-total)') as string,
    });
  });

  it('asks about the queue and the split of its CI run, and about other CI runs only with --newest', async () => {
    const server = await startServer();
    const paths = pathsIn(await initialise(server, manyPaths(3), { ...TRIPLE, node_build_id: '7' }));
    await startSplit(server, manyPaths(2), { ...TRIPLE, ci_build_id: '8' });
    await record(server, { ...TRIPLE, test_files: timedTestFiles(Object.fromEntries(paths.map(path => [path, 1]))) });
    const verifyWith = (env: Record<string, string>, ...more: string[]) =>
      runInProcess(['verify', '--node-total', '1', ...more], { BALLAST_URL: server.url, BALLAST_TOKEN: server.token, ...env });
    const github = { GITHUB_ACTIONS: 'true', GITHUB_SHA: 'abc', GITHUB_REF_NAME: 'main' };
    expect(await verifyWith({ ...github, GITHUB_RUN_ID: '7' })).toEqual({
      code: 0,
      stdout: 'complete: 3 of 3 test files of the queue were recorded\n',
      stderr: '',
    });
    expect((await verifyWith({ ...github, GITHUB_RUN_ID: '8' })).stdout).toContain('of 2 test files of the split were recorded');
    const unknown = await verifyWith({ ...github, GITHUB_RUN_ID: '9' });
    expect(unknown).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^ballast: the server knows no queue and no split of this CI run \(9\)/) as string,
    });
    expect((await verifyWith({ ...github, GITHUB_RUN_ID: '7' }, '--build-id', '9')).code).toBe(1);
    expect(await verifyWith(github, '--newest')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('2 of 2 test files of the split') as string,
    });
    expect(await verifyWith(github)).toMatchObject({ code: 2, stderr: expect.stringContaining('or give --newest') as string });
    // The queue of the CI run is complete, its split is not.
    await startSplit(server, manyPaths(2), { ...TRIPLE, ci_build_id: '7' });
    expect(await verifyWith({ ...github, GITHUB_RUN_ID: '7' })).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(/^complete: .* of the queue .*\nincomplete: .* of the split /) as string,
    });
  });

  it('asks again after a server was restarted', async () => {
    let requests = 0;
    const server = createServer((request, response) => {
      requests += 1;
      if (requests === 1) request.socket.destroy();
      else
        response.writeHead(200).end(
          JSON.stringify({
            is_complete: true,
            kind: 'split',
            test_files: 1,
            recorded: 1,
            errors: [],
            warnings: [],
            never_handed_out: [],
            handed_out_not_recorded: [],
          }),
        );
    }).listen(0, '127.0.0.1');
    onTestFinished(() => void server.close());
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    expect(await verify({ url: `http://127.0.0.1:${port}`, token: 't' }, '--newest')).toMatchObject({
      code: 0,
      stdout: 'complete: 1 of 1 test files of the split were recorded\n',
    });
    expect(requests).toBe(2);
  });

  it('names missing and wrong flags', async () => {
    expect(await runInProcess(['verify', ...FLAGS.slice(0, 4), '--url', 'http://127.0.0.1:1', '--token', 't'])).toMatchObject({
      code: 2,
      stderr:
        'ballast: the number of nodes is not known: give --node-total <number> or set BALLAST_NODE_TOTAL; tried CI_NODE_TOTAL (no known CI system)\n',
    });
    expect(await verify({ url: 'localhost', token: 't' })).toMatchObject({
      code: 2,
      stderr: 'ballast: "localhost/" is not a server address: give one such as https://ballast.example.com (--url, BALLAST_URL)\n',
    });
    expect(await verify({ url: 'http://127.0.0.1:1', token: 't' }, '--wait', 'long')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('It must be a whole number of seconds.') as string,
    });
  });
});
