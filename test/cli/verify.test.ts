import { mkdirSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Client } from '../harness/client.js';
import { nothingMissing } from '../harness/completeness.js';
import { initialise, manyPaths, pathsIn, record, startSplit, timedTestFiles } from '../harness/messages.js';
import { ended, printed, said } from '../harness/process.js';
import { answerWith } from '../harness/proxy.js';
import { runInProcess } from '../harness/run-in-process.js';
import { SharedServer } from '../harness/server.js';
import { temporaryFolder } from '../harness/temporary-folder.js';

const shared = new SharedServer();

const TRIPLE = { commit_hash: 'abc', branch: 'main', node_total: 1 };
const FLAGS = ['--commit-hash', 'abc', '--branch', 'main', '--node-total', '1'];

const verify = ({ url, token }: Pick<Client, 'url' | 'token'>, ...more: string[]) =>
  runInProcess(['verify', ...FLAGS, ...more], { BALLAST_URL: `${url}/`, BALLAST_TOKEN: token });

describe('ballast verify', () => {
  it('ends with 0 if every test file was recorded, before that with 1 and the missing files', async () => {
    const server = await shared.project();
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
    expect(await verify(server, '--node-build-id', '7')).toEqual(printed('complete: 30 of 30 test files of the queue were recorded\n'));
    expect(JSON.parse((await verify(server, '--json', '--newest')).stdout)).toMatchObject({ is_complete: true, recorded: 30 });
  });

  it('says which nodes came, if fewer came than the queue has room for', async () => {
    const server = await shared.project();
    const build = { ...TRIPLE, node_total: 9 };
    const paths = pathsIn(await initialise(server, ['a.rb', 'b.rb'], { ...build, node_build_id: '7' }));
    const times = timedTestFiles({ 'a.rb': 1, 'b.rb': 1 });
    for (const node_index of [0, 1, 2, 5, 7, 8])
      await record(server, {
        ...build,
        node_index,
        test_files: node_index === 0 ? times : times.filter(({ path }) => !paths.includes(path)),
      });
    const lines = (await verify(server, '--node-total', '9', '--node-build-id', '7')).stdout.split('\n');
    expect(lines).toContain('6 of at most 9 nodes came: 0-2, 5, 7-8');
    expect(lines.filter(line => line.includes('recorded nothing'))).toEqual([]);
  });

  it('annotates each missing file for GitHub Actions, and reports each as a failed case of JUnit', async () => {
    const server = await shared.project();
    const hostile = 'spec/a,b:50%<&"\'>\u0007\n::error::x_spec.rb';
    await initialise(server, [hostile, 'spec/b_spec.rb'], { ...TRIPLE, node_build_id: '7' });
    const asked = ['--node-build-id', '7', '--format'];
    const github = await verify(server, ...asked, 'github');
    expect(github.code).toBe(1);
    const lines = github.stdout.trimEnd().split('\n');
    const annotations = lines.filter(line => line.startsWith('::'));
    expect(lines[0]).toBe('incomplete: 0 of 2 test files of the queue were recorded');
    expect(annotations).toHaveLength(3);
    expect(annotations[0]).toMatch(/^::error title=Incomplete build::2 of 2 test files were handed out and not recorded, to node 0/);
    expect(annotations).toContainEqual(
      expect.stringMatching(
        /^::error file=spec\/b_spec\.rb,title=Test file not recorded::spec\/b_spec\.rb \(node 0, handed out at 2.*Z\)$/,
      ),
    );
    expect(annotations).toContainEqual(
      expect.stringContaining(
        '::error file=spec/a%2Cb%3A50%25<&"\'>\\u0007%0A%3A%3Aerror%3A%3Ax_spec.rb,title=Test file not recorded::spec/a,b:50%25',
      ),
    );
    const { code, stdout } = await verify(server, ...asked, 'junit');
    expect(code).toBe(1);
    expect(stdout).toContain('<testsuite name="ballast verify" tests="3" failures="3">');
    expect(stdout).toContain(
      'name="the queue is complete"><failure message="incomplete: 0 of 2 test files of the queue were recorded&#10;2 of 2',
    );
    expect(stdout).toContain(
      'name="spec/a,b:50%&#60;&#38;&#34;&#39;&#62;\ufffd&#10;::error::x_spec.rb"><failure message="not recorded (node 0, handed out at',
    );

    await record(server, { ...TRIPLE, test_files: timedTestFiles({ [hostile]: 1, 'spec/b_spec.rb': 1 }) });
    expect((await verify(server, ...asked, 'github')).stdout).toBe('complete: 2 of 2 test files of the queue were recorded\n');
    const unasked = await verify({ url: server.url, token: 'x'.repeat(40) }, ...asked, 'junit');
    expect(unasked.code).toBe(3);
    expect(unasked.stdout).toMatch(
      /tests="1" failures="1">\n.*<failure message="cannot tell whether the build is complete: GET .* invalid test suite token; check the token: it may be revoked, or belong to another server"/,
    );
    const complete = await verify(server, ...asked, 'junit');
    expect(complete.code).toBe(0);
    expect(complete.stdout).toContain('tests="1" failures="0">\n<testcase classname="ballast verify" name="the queue is complete"/>\n');
  });

  it('names files for GitHub Actions by their paths in the checkout, if it runs in a folder of it', async () => {
    const server = await shared.project();
    await initialise(server, ['spec/a_spec.rb', '/abs/b_spec.rb'], { ...TRIPLE, node_build_id: '7' });
    const checkout = temporaryFolder();
    mkdirSync(join(checkout, 'apps/web'), { recursive: true });
    const filesFrom = async (folder: string, GITHUB_WORKSPACE: string) => {
      const env = { BALLAST_URL: server.url, BALLAST_TOKEN: server.token, GITHUB_WORKSPACE };
      const { stdout } = await runInProcess(['verify', ...FLAGS, '--node-build-id', '7', '--format', 'github'], env, { cwd: folder });
      return [...stdout.matchAll(/file=([^,]*)/g)].map(([, file]) => file).sort();
    };
    expect(await filesFrom(join(checkout, 'apps/web'), checkout)).toEqual(['/abs/b_spec.rb', 'apps/web/spec/a_spec.rb']);
    expect(await filesFrom(checkout, checkout)).toEqual(['/abs/b_spec.rb', 'spec/a_spec.rb']);
    expect(await filesFrom(checkout, join(checkout, 'apps/web'))).toEqual(['/abs/b_spec.rb', 'spec/a_spec.rb']);
    expect(await filesFrom(checkout, '')).toEqual(['/abs/b_spec.rb', 'spec/a_spec.rb']);
  });

  it('prints one format at a time', async () => {
    const { code, stdout, stderr } = await verify(await shared.project(), '--format', 'github', '--json');
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain("option '--json' cannot be used with option '--format <name>'");
  });

  it('waits for a node that is about to record', async () => {
    const server = await shared.project();
    const paths = pathsIn(await initialise(server, ['a_spec.rb'], TRIPLE));
    const waiting = verify(server, '--newest', '--wait', '60');
    await record(server, { ...TRIPLE, test_files: timedTestFiles(Object.fromEntries(paths.map(path => [path, 1]))) });
    expect((await waiting).code).toBe(0);
  });

  it('ends with 3 if the server could not be asked', async () => {
    const server = await shared.project();
    expect(await verify({ url: server.url, token: 'x'.repeat(40) }, '--newest')).toEqual(
      ended(
        3,
        /^ballast: cannot tell whether the build is complete: GET http:.* was refused with 403: invalid test suite token; check the token: it may be revoked, or belong to another server\n$/,
        '',
      ),
    );
    expect((await verify({ url: server.url, token: 'x'.repeat(40) }, '--newest', '--format', 'github')).stdout).toMatch(
      /^::error title=Completeness not known::cannot tell whether .* invalid test suite token; check the token: it may be revoked, or belong to another server\n$/,
    );
    const wrong = await runInProcess(['verify', ...FLAGS.slice(0, -1), '0', '--url', server.url, '--token', server.token]);
    expect(wrong).toMatchObject(ended(2, 'it must be a whole number from 1 on (--node-total)'));
  });

  it('asks about the queue and the split of its CI run, and about other CI runs only with --newest', async () => {
    const server = await shared.project();
    const paths = pathsIn(await initialise(server, manyPaths(3), { ...TRIPLE, node_build_id: '7' }));
    await startSplit(server, manyPaths(2), { ...TRIPLE, ci_build_id: '8' });
    await record(server, { ...TRIPLE, test_files: timedTestFiles(Object.fromEntries(paths.map(path => [path, 1]))) });
    const verifyWith = (env: Record<string, string>, ...more: string[]) =>
      runInProcess(['verify', '--node-total', '1', ...more], { BALLAST_URL: server.url, BALLAST_TOKEN: server.token, ...env });
    const github = { GITHUB_ACTIONS: 'true', GITHUB_SHA: 'abc', GITHUB_REF_NAME: 'main' };
    const complete = printed('complete: 3 of 3 test files of the queue were recorded\n');
    expect(await verifyWith({ ...github, GITHUB_RUN_ID: '7' })).toEqual(complete);
    expect((await verifyWith({ ...github, GITHUB_RUN_ID: '8' })).stdout).toContain('of 2 test files of the split were recorded');
    const unknown = await verifyWith({ ...github, GITHUB_RUN_ID: '9' });
    expect(unknown).toMatchObject(ended(1, /^ballast: the server knows no queue and no split of this CI run \(9\)/));
    expect((await verifyWith({ ...github, GITHUB_RUN_ID: '7' }, '--build-id', '9')).code).toBe(1);
    expect(await verifyWith(github, '--newest')).toMatchObject(printed(expect.stringContaining('2 of 2 test files of the split')));
    expect(await verifyWith(github)).toMatchObject({ code: 2, stderr: expect.stringContaining('or give --newest') as string });
    // The queue of the CI run is complete, its split is not.
    await startSplit(server, manyPaths(2), { ...TRIPLE, ci_build_id: '7' });
    expect(await verifyWith({ ...github, GITHUB_RUN_ID: '7' })).toMatchObject(
      printed(expect.stringMatching(/^complete: .* of the queue .*\nincomplete: .* of the split /), 1),
    );
  });

  it('finds all builds of its CI run without a number of nodes, also where the job of the gate has one of its own', async () => {
    const server = await shared.project();
    const gitlab = { GITLAB_CI: 'true', CI_NODE_TOTAL: '1', CI_PIPELINE_ID: '7', CI_COMMIT_SHA: 'abc', CI_COMMIT_REF_NAME: 'main' };
    const ask = (more: Record<string, string> = {}, ...flags: string[]) =>
      runInProcess(['verify', ...flags], { BALLAST_URL: server.url, BALLAST_TOKEN: server.token, ...gitlab, ...more });
    const build = (node_total: number) => ({ commit_hash: 'abc', branch: 'main', node_total });
    for (const node_total of [3, 5]) await initialise(server, ['a_spec.rb'], { ...build(node_total), node_build_id: '7' });
    for (let other = 0; other < 3; other++) await initialise(server, ['a_spec.rb'], { ...build(2), node_build_id: `other ${other}` });
    await startSplit(server, ['b_spec.rb'], { ...build(3), ci_build_id: '7' });
    const once = (path: string) => ({ test_files: timedTestFiles({ [path]: 1 }) });
    await record(server, { ...build(3), ...once('a_spec.rb') });
    await record(server, { ...build(3), ...once('b_spec.rb') });
    expect(await ask()).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(/^incomplete: 0 of 1 test file of the queue were/) as string,
    });
    expect((await ask({}, '--node-total', '3')).code).toBe(0);
    await record(server, { ...build(5), ...once('a_spec.rb') });
    expect(await ask()).toMatchObject(
      printed(expect.stringMatching(/^complete: 1 of 1 .* of the queue .*\n(.*\n)*complete: 1 of 1 .* of the split /)),
    );
    expect(await ask({ CI_PIPELINE_ID: '8' })).toMatchObject({ code: 1, stderr: expect.stringContaining('this CI run (8)') as string });
    expect((await ask({ CI_COMMIT_SHA: 'abd' })).code).toBe(1);
  });

  it('asks again after a server was restarted', async () => {
    let requests = 0;
    const server = await completeFor(request => {
      requests += 1;
      if (requests === 1) request.socket.destroy();
      return Object.fromEntries(new URL(request.url!, 'http://x').searchParams);
    });
    expect(await verify(server, '--newest')).toMatchObject({
      code: 0,
      stdout: 'complete: 1 of 1 test file of the split was recorded\n',
    });
    expect(requests).toBe(2);
  });

  it('refuses a flaky file with --fail-on-flaky new if the server does not say whether it is new', async () => {
    const server = await completeFor(({ url }) => Object.fromEntries(new URL(url!, 'http://x').searchParams), {
      flaky: [{ path: 'a.js', node_indexes: [1, 2] }],
    });
    expect((await verify(server, '--newest')).code).toBe(0);
    expect(await verify(server, '--newest', '--fail-on-flaky', 'new')).toMatchObject(
      ended(1, 'flaky: a.js (failed on nodes 1, 2, and passed when retried; the server does not say whether it is new: update the server)'),
    );
  });

  it('passes with --fail-on-flaky new where no file was retried, also if clients tell no outcomes', async () => {
    const server = await shared.project();
    await initialise(server, ['a_spec.rb'], { ...TRIPLE, node_build_id: '7' });
    await record(server, { ...TRIPLE, test_files: timedTestFiles({ 'a_spec.rb': 1 }) });
    const { code, stderr } = await verify(server, '--node-build-id', '7', '--fail-on-flaky', 'new');
    expect([code, stderr]).toEqual([0, '']);
  });

  it.each<[string, object | undefined]>([
    ['another CI run', { node_build_id: '6' }],
    ['another build', { commit_hash: 'abd' }],
    ['an earlier request', { request_id: 'x' }],
    ['nothing', undefined],
  ])('ends with 1 for a complete answer about %s', async (_, other) => {
    const server = await completeFor(({ url }) => other && { ...Object.fromEntries(new URL(url!, 'http://x').searchParams), ...other });
    expect(await verify(server, '--node-build-id', '7')).toEqual(
      ended(
        1,
        /^ballast: cannot tell whether the build is complete: the answer is about another request: asked about .*"node_build_id":"7".*, answered about .*let no proxy or cache answer for /,
        '',
      ),
    );
  });

  it('fails if files were recorded with a time of 0 only, unless they may be empty', async () => {
    const server = await shared.project();
    const paths = ['a_spec.rb', 'b/b_spec.rb', 'b/c_spec.rb'];
    await initialise(server, paths, { ...TRIPLE, node_build_id: '7' });
    const ask = (...flags: string[]) => verify(server, '--node-build-id', '7', ...flags);
    // Nothing excuses a node that recorded nothing.
    expect((await ask('--may-be-empty', '**')).code).toBe(1);
    await record(server, { ...TRIPLE, test_files: timedTestFiles({ 'a_spec.rb': 1, 'b/b_spec.rb': 0 }) });
    const red = await ask();
    expect(red.code).toBe(1);
    expect(red.stdout.split('\n').slice(0, 3)).toEqual([
      'incomplete: 1 of 3 test files of the queue was recorded, others with a time of 0 only',
      'error: 1 of 3 test files was handed out and not recorded, to node 0: a node or its test runner may have died; retry these nodes',
      'error: 1 of 3 test files was recorded with a time of 0 only, by node 0: nothing says that it ran; look for files that could not be loaded, or allow empty files (allow_empty, ballast verify --allow-empty)',
    ]);
    expect((await ask('--format', 'github')).stdout).toContain(
      '\n::error file=b/b_spec.rb,title=Test file recorded with a time of 0 only::b/b_spec.rb (node 0)\n',
    );
    expect((await ask('--format', 'junit')).stdout).toContain(
      'name="b/b_spec.rb"><failure message="recorded with a time of 0 only (node 0)"/>',
    );
    expect((await ask('--format', 'github', '--allow-empty')).stdout).not.toContain('b/b_spec.rb');
    expect((await ask('--allow-empty')).code).toBe(1);
    expect((await ask('--may-be-empty', 'b/b*')).code).toBe(1);
    expect((await ask('--allow-empty', '--may-be-empty', 'b/c*')).stdout).toMatch(
      /^complete: 2 of 3 test files of the queue were recorded, 1 may be empty\n/,
    );
    expect(await ask('--may-be-empty', './b/**')).toEqual(
      printed(
        'complete: 1 of 3 test files of the queue was recorded, 2 may be empty\n' +
          'warning: 2 test files that may be empty (--may-be-empty) counted as run: b/c_spec.rb, b/b_spec.rb\n' +
          '  b/b_spec.rb  (recorded with a time of 0)\n',
      ),
    );
    expect(JSON.parse((await ask('--may-be-empty', 'b/**', '--json')).stdout)).toMatchObject({ is_complete: true, errors: [] });
  });

  it('says why a CI run is incomplete of which every file was recorded, in each format', async () => {
    const server = await shared.project();
    const [node0, node1] = [
      { ...TRIPLE, node_total: 2 },
      { ...TRIPLE, node_total: 2, node_index: 1 },
    ];
    await initialise(server, ['a_spec.rb', 'b_spec.rb'], { ...node0, node_build_id: '7' });
    await record(server, { ...node0, test_files: timedTestFiles({ 'a_spec.rb': 1 }) });
    await record(server, { ...node1, test_files: timedTestFiles({ 'b_spec.rb': 1 }) });
    await record(server, { ...node1, test_files: [] });
    const asked = ['verify', ...FLAGS.slice(0, 4), '--node-total', '2', '--node-build-id', '7', '--format'];
    const ask = async (format: string) =>
      (await runInProcess([...asked, format], { BALLAST_URL: server.url, BALLAST_TOKEN: server.token })).stdout;
    const verdict = 'incomplete, although 2 of 2 test files of the queue were recorded';
    expect(await ask('text')).toMatch(new RegExp(`^${verdict}\nerror: node 1 ran nothing when run again, `));
    expect(await ask('github')).toMatch(new RegExp(`^${verdict}\n::error title=Incomplete build::node 1 ran nothing when run again, `));
    expect(await ask('junit')).toContain(
      `name="the queue is complete"><failure message="${verdict}&#10;node 1 ran nothing when run again, `,
    );
  });

  it('names missing and wrong flags', async () => {
    expect(await runInProcess(['verify', ...FLAGS.slice(0, 4), '--url', 'http://127.0.0.1:1', '--token', 't'])).toMatchObject(
      said(
        2,
        'the id of the CI run (the same for all its nodes) is not known: give --build-id <id> or set BALLAST_BUILD_ID; or give --newest to ask about the newest queue or split of the build',
      ),
    );
    expect(await verify({ url: 'localhost', token: 't' })).toMatchObject(
      said(2, '"localhost/" is not a server address: give one such as https://ballast.example.com (--url, BALLAST_URL)'),
    );
    expect(await verify({ url: 'http://127.0.0.1:1', token: 't' }, '--wait', 'long')).toMatchObject(
      ended(2, 'It must be a whole number of seconds.'),
    );
    expect(await verify({ url: 'http://127.0.0.1:1', token: 't' }, '--fail-on-flaky', 'all')).toMatchObject(
      ended(2, "option '--fail-on-flaky <which>' argument 'all' is invalid. Allowed choices are new."),
    );
  });
});

/** Starts a server that says of everything that it is complete. @param about what the answer to a request says that it is about */
async function completeFor(
  about: (request: IncomingMessage) => object | undefined,
  more: object = {},
): Promise<Pick<Client, 'url' | 'token'>> {
  const url = await answerWith((request, response) => {
    const kind = request.url!.includes('node_build_id') ? 'queue' : 'split';
    response.end(
      JSON.stringify({ ...nothingMissing, about: about(request), kind, is_complete: true, test_files: 1, recorded: 1, ...more }),
    );
  });
  return { url, token: 't' };
}
