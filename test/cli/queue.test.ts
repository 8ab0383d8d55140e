import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Client } from '../harness/client.js';
import { expectCompleteness } from '../harness/completeness.js';
import { sortPaths } from '../harness/messages.js';
import { ended, plainEnvironment, runBallast, said } from '../harness/process.js';
import { startProxy } from '../harness/proxy.js';
import { QueueNode } from '../harness/queue-node.js';
import { SharedServer, startServer, startServerOnDisk } from '../harness/server.js';
import { temporaryFolder } from '../harness/temporary-folder.js';
import { MAIN } from '../testbed/server.js';
import { BUILD, fetchRecordedTimes, TestProject, unreachableServer } from './test-project.js';

const shared = new SharedServer();

const FILES = Array.from({ length: 8 }, (_, i) => `test/${'x'.repeat(i + 1)}.test.js`);
const GLOB = 'test/*.test.js';
const JUNIT = ['--junit', 'reports/*.xml'];
const REPORT = { REPORT: 'reports/%.xml' };
/** Runs `queue` in a new process. Resolves when its command hangs. */
async function startHanging(server: Client, suite: TestProject, env: NodeJS.ProcessEnv, command: readonly string[] = suite.runner) {
  const child = spawn(process.execPath, [MAIN, 'queue', GLOB, ...JUNIT, ...command], {
    cwd: suite.folder,
    env: plainEnvironment(suite.environment(server, 0, { ...REPORT, ...env })),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  await once(child.stdout, 'data');
  return child;
}

const lengths = (files: readonly string[]) => Object.fromEntries(files.map(file => [file, file.length]));

describe('ballast queue', () => {
  it('runs each file once over all nodes, and records the times of its reports', async () => {
    const [server, suite] = [await startServerOnDisk(), new TestProject(FILES)];
    // Concurrently, as on two machines.
    const queue = (node: number) =>
      runBallast(
        ['queue', GLOB, '--junit', `reports/${node}-*.xml`, ...suite.runner],
        suite.environment(server, node, { REPORT: `reports/${node}-%.xml` }),
        { cwd: suite.folder },
      );
    const nodes = await Promise.all([queue(0), queue(1)]);
    // A node that starts late may find that the other one has run all files.
    const recorded = (node: number) =>
      new RegExp(
        `\nballast: recorded \\d test files?, \\d+\\.0 s, as node ${node} of 2\n(ballast: no test file is left;.*\n)?ballast: batch `,
      );
    const nothing = (node: number) =>
      new RegExp(`^(ballast: no test file is left;.*\n)?ballast: nothing is left to run for node ${node} of 2 `);
    for (const [node, { code, stdout, stderr }] of nodes.entries()) {
      expect({ code, stdout }).toEqual({ code: 0, stdout: '' });
      expect(recorded(node).test(stderr) || nothing(node).test(stderr)).toBe(true);
    }
    expect(sortPaths(suite.ran)).toEqual(sortPaths(FILES));
    expect(await fetchRecordedTimes(server)).toEqual(lengths(FILES));
    await expectCompleteness(server, { ...BUILD, node_build_id: '7' }, 200, { errors: [], recorded: 8 });
  });

  it('gives a retried node the files that failed, and nothing to a node that passed', async () => {
    const [server, suite] = [await shared.project(), new TestProject(FILES)];
    const queue = (more: NodeJS.ProcessEnv = {}) =>
      suite.run(server, 0, ['queue', GLOB, ...JUNIT, ...suite.runner], { ...REPORT, ...more });
    expect(await queue({ FAILING: FILES[3]! })).toMatchObject(
      ended(
        1,
        /\nballast: the command ended with 1 \(batch \d+, \d+ test files?\)\n(.*\n)*ballast: recorded 8 .*\n(.*\n)*ballast: failed: test\/xxxx\.test\.js\n$/,
      ),
    );
    expect(sortPaths(suite.ran)).toEqual(sortPaths(FILES));
    expect(await queue()).toMatchObject(
      ended(
        0,
        /^ballast: batch 1: 1 test file, never measured\nballast: recorded 1 test file, 17\.0 s, as node 0 of 2\nballast: batch {2}files .*\nballast: +1 +1 .*\n/,
      ),
    );
    expect(suite.ran.slice(FILES.length)).toEqual([FILES[3]]);
    expect(await queue()).toEqual(
      said(0, 'nothing is left to run for node 0 of 2 in this CI run (to run all again, give another --build-id)'),
    );
    expect(suite.ran).toHaveLength(FILES.length + 1);
  });

  it.each<[string, NodeJS.ProcessEnv]>([
    ['GitHub Actions', { GITHUB_ACTIONS: 'true', GITHUB_RUN_ATTEMPT: '2' }],
    ['Buildkite', { BUILDKITE: 'true', BUILDKITE_RETRY_COUNT: '1' }],
    ['CircleCI', { CIRCLECI: 'true', CIRCLE_WORKFLOW_ID: 'b', CIRCLE_WORKFLOW_WORKSPACE_ID: 'a' }],
  ])('warns in a later attempt of %s when nothing was run again', async (system, attempt) => {
    const [server, suite] = [await shared.project(), new TestProject(FILES.slice(0, 2))];
    const queue = (more: NodeJS.ProcessEnv) => suite.run(server, 0, ['queue', GLOB, ...suite.runner], more);
    const first = { ...attempt, GITHUB_RUN_ATTEMPT: '1', BUILDKITE_RETRY_COUNT: '0', CIRCLE_WORKFLOW_ID: 'a' };
    expect(await queue(first)).toMatchObject({ code: 0 });
    const { code, stdout, stderr } = await queue(attempt);
    const warning = 'WARNING: nothing was run again: an earlier attempt of this CI run left nothing to run for this node; ';
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringContaining(`ballast: ${warning}`) as string });
    expect(stdout.startsWith(`::warning title=Ballast::${warning}`)).toBe(system === 'GitHub Actions');
    expect(suite.ran).toHaveLength(2);
  });

  it('fails for a failure in a report if the command ends with 0, unless the exit code is trusted', async () => {
    const [server, suite] = [await shared.project(), new TestProject(FILES.slice(0, 1))];
    const queue = (...flags: string[]) =>
      suite.run(server, 0, ['queue', GLOB, ...JUNIT, ...flags, ...suite.runner], { ...REPORT, FAILING: FILES[0]!, LOST: '1' });
    const lost = await queue();
    expect(lost).toMatchObject(
      ended(1, `ballast: the command ended with 0, but the batch failed (batch 1, 1 test file): a report has failures (${FILES[0]}); `),
    );
    expect(lost.stderr).toMatch(/\nballast: failed: test\/x\.test\.js\n$/);
    // The file was acknowledged as failed: the node gets it again.
    const trusted = await queue('--trust-exit-code');
    expect(trusted).toMatchObject({ code: 0, stderr: expect.stringContaining('\nballast: recorded 1 test file, 14.0 s, ') as string });
    expect(trusted.stderr).not.toMatch(/WARNING|but the batch failed/);
    expect((await queue()).code).toBe(0);
    expect(suite.ran).toHaveLength(2);
  });

  it('names an unreported file with --fail-unreported, and runs only that of its batch again', async () => {
    const [server, suite] = [await shared.project(), new TestProject(FILES)];
    const queue = (...flags: string[]) =>
      suite.run(server, 0, ['queue', GLOB, '--fail-unreported', ...flags, ...suite.runner], { ...REPORT, SILENT: FILES[2]! });
    expect(await queue()).toMatchObject(ended(2, '--fail-unreported needs the reports'));
    expect(await queue(...JUNIT)).toMatchObject(ended(1, `no report mentions 1 test file (${FILES[2]}), and --fail-unreported is given`));
    expect(sortPaths(suite.ran)).toEqual(sortPaths(FILES));
    const query = { ...BUILD, node_build_id: '7' };
    await expectCompleteness(server, query, 409, { recorded: 7, handed_out_not_recorded: [{ path: FILES[2] }] });
    // The file has nothing to run, so no report will ever mention it.
    expect((await queue(...JUNIT, '--may-be-empty', 'test/x*')).code).toBe(0);
    expect(suite.ran.slice(FILES.length)).toEqual([FILES[2]]);
    await expectCompleteness(server, query, 200, { recorded: 8 });
  });

  it('is red on the node that ends last if no test ran on any', async () => {
    const [server, suite] = [await shared.project(), new TestProject(FILES.slice(0, 2))];
    const pytest = `<testsuites><testsuite name="pytest" errors="0" tests="0"/></testsuites>`;
    const none = ['sh', '-c', `mkdir -p reports; printf '%s' '${pytest}' > reports/$BALLAST_BATCH.xml; exit 5`, 'sh', '{}'];
    const run = () => suite.run(server, 0, ['queue', GLOB, ...JUNIT, '--fail-unreported', '--', ...none]);
    expect(await run()).toMatchObject(
      ended(
        1,
        /no test was selected, and the files count as run\n(.*\n)*ballast: no test ran in any of the 2 test files of this node, nor in any other of this CI run, because /,
      ),
    );
    expect(await run()).toMatchObject(
      ended(1, 'nothing was left to run for this node, and no test ran in any file of this CI run, because'),
    );
    await expectCompleteness(server, { ...BUILD, node_build_id: '7' }, 409, { recorded: 2, no_test_ran: true });
  });

  it('divides the time of a batch without reports, and warns if they are missing', async () => {
    const [server, suite] = [await shared.project(), new TestProject(FILES)];
    const warning =
      'ballast: WARNING: --junit reports/*.xml: the command wrote no report there; the time of the batch is divided among its test files\n';
    expect(await suite.run(server, 0, ['queue', GLOB, ...JUNIT, ...suite.runner])).toMatchObject(ended(0, warning));
    const times = Object.values(await fetchRecordedTimes(server));
    expect(times).toHaveLength(FILES.length);
    for (const time of times) expect(time).toBeGreaterThan(0);
  });

  it('warns if a command runs files of other batches', async () => {
    const [server, suite] = [await shared.project(), new TestProject(FILES.slice(0, 2))];
    const { stderr } = await suite.run(server, 0, ['queue', GLOB, ...JUNIT, ...suite.runner.slice(0, -1), ...FILES.slice(0, 2)], REPORT);
    expect(stderr).toContain('WARNING: the command ran 1 test file of other batches, too: test/x');
  });

  it('gives the command a file with the paths of its batch for {file}, and removes it', async () => {
    const [server, suite] = [await shared.project(), new TestProject([...FILES, 'test/a b,[c].test.js'])];
    const TMPDIR = temporaryFolder();
    const list = [
      '--',
      'sh',
      '-c',
      'ls -l "$1" >> modes; while IFS= read -r file; do set -- "$@" "$file"; done < {file}; shift; sh runner.sh "$@"',
      'sh',
      '{file}',
    ];
    // os.tmpdir() reads the environment of the process.
    const env = suite.environment(server, 0, { ...REPORT, TMPDIR });
    expect((await runBallast(['queue', GLOB, ...JUNIT, ...list], env, { cwd: suite.folder })).code).toBe(0);
    expect(sortPaths(suite.ran)).toEqual(sortPaths(suite.files));
    expect(readFileSync(join(suite.folder, 'modes'), 'utf8')).toMatch(new RegExp(`^(-rw-------.* ${TMPDIR}/ballast-\\w+/batch.txt\n)+$`));
    expect(readdirSync(TMPDIR)).toEqual([]);
  });

  it('gives it all paths of a batch at once, even if they are too long for its arguments', async () => {
    const names = Array.from({ length: 1500 }, (_, i) => `test/${String(i).padStart(4, '0')}${'x'.repeat(90)}.test.js`);
    const suite = new TestProject([]);
    // Without a server, all files are one batch.
    const queue = ['queue', '--stdin', '--fallback', '--', 'sh', '-c', 'cat "$1" >> batches; echo end >> batches', 'sh', '{file}'];
    expect((await suite.run(unreachableServer, 0, queue, {}, names.join('\n'))).code).toBe(0);
    expect(readFileSync(join(suite.folder, 'batches'), 'utf8').split('\n')).toEqual([...names, 'end', '']);
  });

  it('ends with 126 and loses no file if it cannot write the file for {file}', async () => {
    const [server, suite] = [await shared.project(), new TestProject(FILES)];
    const env = suite.environment(server, 0, { TMPDIR: join(suite.folder, 'runner.sh') });
    expect(await runBallast(['queue', GLOB, '--', 'cat', '{file}'], env, { cwd: suite.folder })).toMatchObject(
      ended(126, 'cannot write the test files of the batch to a file for {file}: ENOTDIR'),
    );
    expect((await suite.run(server, 0, ['queue', GLOB, ...suite.runner])).code).toBe(0);
    expect(sortPaths(suite.ran)).toEqual(sortPaths(FILES));
  });

  it('removes the file for {file} after a signal, too', async () => {
    const [server, suite] = [await shared.project(), new TestProject(FILES)];
    const TMPDIR = temporaryFolder();
    const child = await startHanging(server, suite, { HANGS: 'SIGTERM', TMPDIR }, ['--', 'sh', '-c', 'xargs sh runner.sh < {file}']);
    expect(readdirSync(TMPDIR)).toHaveLength(1);
    child.kill('SIGTERM');
    expect(await once(child, 'exit')).toEqual([143, null]);
    expect(readdirSync(TMPDIR)).toEqual([]);
  });

  it('ends like a shell if its command cannot be started, and the batch is not lost', async () => {
    const [server, suite] = [await shared.project(), new TestProject(FILES)];
    expect(await suite.run(server, 0, ['queue', GLOB, '--', './missing', '{}'])).toEqual(
      ended(
        127,
        /^ballast: 8 test files, none .*\nballast: batch 1: .*\nballast: cannot start the command \.\/missing: spawn \.\/missing ENOENT\n$/,
        '',
      ),
    );
    expect((await suite.run(server, 0, ['queue', GLOB, '--', './test', '{}'])).code).toBe(126);
    expect((await suite.run(server, 0, ['queue', GLOB, ...suite.runner])).code).toBe(0);
    expect(sortPaths(suite.ran)).toEqual(sortPaths(FILES));
  });

  it('ends with 3 and runs nothing if there is no server', async () => {
    const suite = new TestProject(FILES);
    expect(await suite.run(unreachableServer, 0, ['queue', GLOB, ...suite.runner])).toMatchObject(
      ended(3, /^ballast: no answer from .*; the rest of the queue is not known; this node ran 0 of 8 test files\. .*--fallback/),
    );
    expect(suite.ran).toEqual([]);
  });

  it('runs all files with a warning if there is no server, with --fallback', async () => {
    const suite = new TestProject(FILES);
    const { code, stderr } = await suite.run(unreachableServer, 0, ['queue', GLOB, '--fallback', ...suite.runner]);
    expect(code).toBe(0);
    expect(sortPaths(suite.ran)).toEqual(sortPaths(FILES));
    expect(stderr).toMatch(/^ballast: WARNING: no answer .*\nballast: WARNING: --fallback: this node runs all 8 test files/);
    expect(stderr).toContain('the times of 8 test files are not recorded');
  });

  it('runs all files that it has not run if it loses its server, with --fallback', async () => {
    const [server, suite] = [await shared.project(), new TestProject(FILES)];
    // The second pull is served, but its answer is lost.
    let pulls = 0;
    const url = await startProxy(request => ({ url: server.url, loseAnswer: request.url === '/v2/queues/queue' && ++pulls > 2 }));
    expect(await suite.run({ url, token: server.token }, 0, ['queue', GLOB, '--fallback', ...suite.runner])).toMatchObject(
      ended(0, /this node runs the \d of 8 test files that it has not run/),
    );
    expect(sortPaths(suite.ran)).toEqual(sortPaths(FILES));
    expect(Object.keys(await fetchRecordedTimes(server))).toHaveLength(FILES.length);
  });

  it('ends with 3 if the server has lost the queue', async () => {
    const [server, suite] = [await startServer(), new TestProject(FILES)];
    const other = await startServer();
    // Pulls after the first one reach a server without the queue.
    let pulls = 0;
    const url = await startProxy(() => (++pulls > 2 ? other : server));
    expect(await suite.run({ url, token: server.token }, 0, ['queue', GLOB, ...suite.runner])).toMatchObject(
      ended(3, /was refused with 422: test_queue_id: names no queue /),
    );
    expect(suite.ran.length).toBeLessThan(FILES.length);
  });

  it('ends with 2 if it lists a file that the queue does not have, and names the file', async () => {
    const [server, suite] = [await shared.project(), new TestProject(FILES)];
    expect((await suite.run(server, 0, ['queue', GLOB, `!${FILES[7]}`, ...suite.runner])).code).toBe(0);
    const difference = `made of 7 test files, and this node lists 8: none only in the queue, "${FILES[7]}" only on this node`;
    expect(await suite.run(server, 1, ['queue', GLOB, ...suite.runner])).toMatchObject(ended(2, difference));
    expect(suite.ran).not.toContain(FILES[7]);
  });

  it('forwards SIGINT, records what ran, and ends like a process that the signal ended', async () => {
    const [server, suite] = [await shared.project(), new TestProject(FILES)];
    const child = await startHanging(server, suite, { HANGS: 'SIGINT' });
    child.kill('SIGINT');
    const [code] = await once(child, 'exit');
    expect(code).toBe(130);
    expect(await fetchRecordedTimes(server)).toEqual(lengths(suite.ran));
    const [ciRun] = await shared.store.ciRuns.list(server.id, Number.MAX_SAFE_INTEGER, 1);
    const minutes = async () => (await server.get(`/v1/builds/${ciRun!.id}/minutes`)).json;
    expect(await minutes()).toMatchObject({ is_running: false, state: 'cancelled' });
    expect((await suite.run(server, 0, ['verify'])).stdout).toContain('\nerror: node 0 was cancelled: run the CI run again\n');
    // The node did not acknowledge its batch, so it gets the batch again.
    expect((await suite.run(server, 0, ['queue', GLOB, ...suite.runner])).code).toBe(0);
    expect(new Set(suite.ran).size).toBe(FILES.length);
  });

  it('forwards SIGTERM to the processes of its command, waits for them, and prints only the signal', async () => {
    const [server, suite] = [await shared.project(), new TestProject(FILES)];
    // A shell does not forward signals.
    const shell = ['--', 'sh', '-c', 'sh runner.sh "$@"; exit 5', 'sh', '{}'];
    const child = await startHanging(server, suite, { HANGS: 'SIGTERM', FAILING: FILES.slice(1).join(',') }, shell);
    child.kill('SIGTERM');
    // stderr stays open while any process of the command is left.
    const [stderr, [code]] = await Promise.all([text(child.stderr), once(child, 'close')]);
    expect(code).toBe(143);
    // A failure may be caused by the signal, so failed files are not recorded.
    const passed = suite.ran.filter(file => file === FILES[0]);
    expect(stderr.replace(/^ballast: 8 test files, .*\nballast: batch 1: .*\n/, '')).toBe(
      `${passed.map(() => 'ballast: recorded 1 test file, 14.0 s, as node 0 of 2\n').join('')}ballast: ended by SIGTERM\n`,
    );
    expect(await fetchRecordedTimes(server)).toEqual(lengths(passed));
  });

  it('says at the start when all nodes should end, and at the end how it came out, once the files were measured', async () => {
    const [server, suite] = [await shared.project(), new TestProject(FILES)];
    const queue = (build: string) => suite.run(server, 0, ['queue', GLOB, '--build-id', build, ...JUNIT, ...suite.runner], REPORT);
    expect((await queue('1')).stderr).toMatch(
      /^ballast: 8 test files, none measured before: when the build ends is not known\nballast: batch 1: /,
    );
    const time = String.raw`\d\d:\d\d:\d\d`;
    const start = `8 test files, all measured before; this node should work for .* s; all nodes should end at ${time}, give or take .* s`;
    const end = `this node ended at ${time}, after .*, .* before the expected end of all nodes`;
    expect((await queue('2')).stderr).toMatch(
      new RegExp(`^ballast: ${start}\n(ballast: batch .*\n)+ballast: ${end}\nballast: recorded 8 `),
    );
  });

  it('sends the sizes of the files, so that the largest are first when nothing was measured', async () => {
    const [server, suite] = [await shared.project(), new TestProject(FILES)];
    for (const [i, file] of FILES.entries()) writeFileSync(join(suite.folder, file), 'x'.repeat(i === 5 ? 1000 : 100));
    await suite.run(server, 0, ['queue', GLOB, '--build-id', '1', ...JUNIT, ...suite.runner], REPORT);
    expect(suite.ran[0]).toBe(FILES[5]);
  });

  it.each([
    { order: [], begins: FILES[5] },
    { order: ['--order', 'slowest-first'], begins: FILES[0] },
  ])(
    'begins with what failed in the newest run of the branch, unless it is to begin with the slowest files ($order)',
    async ({ order, begins }) => {
      const [server, suite] = [await shared.project(), new TestProject(FILES)];
      const node = new QueueNode(server, 0, BUILD);
      await node.start(FILES);
      for (let batch = node.paths; batch.length > 0; ) batch = await node.next(batch.filter(path => path === FILES[5]));
      const test_files = FILES.map(path => ({ path, time_execution: 40 }));
      await server.post('/v1/build_subsets', { ...BUILD, node_index: 0, test_files });
      await suite.run(server, 0, ['queue', GLOB, ...order, ...JUNIT, ...suite.runner], REPORT);
      expect(suite.ran[0]).toBe(begins);
    },
  );

  it('needs a command', async () => {
    expect(await new TestProject(FILES).run(unreachableServer, 0, ['queue', GLOB])).toMatchObject(ended(2, 'no command: give it after --'));
  });
});
