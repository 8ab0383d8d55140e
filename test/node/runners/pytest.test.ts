import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { wheelOf } from '../../../scripts/release/wheel.js';
import { END_SIGNALS } from '../../../src/base/signals.js';
import type { UsageError } from '../../../src/base/usage-error.js';
import { type IdentityField, type IdentityOptions, identify, identityFields, wholeIdentity } from '../../../src/node/ci/identity.js';
import { nodeLinks } from '../../../src/node/ci/links.js';
import { type Environment, systems } from '../../../src/node/ci/systems.js';
import { parseMutes } from '../../../src/node/mutes/mutes.js';
import { digestOfList } from '../../../src/protocol/list-digest.js';
import { fetchRecordedTimes, unreachableServer } from '../../cli/test-project.js';
import type { Client } from '../../harness/client.js';
import { expectCompleteness, getCompleteness } from '../../harness/completeness.js';
import { record } from '../../harness/messages.js';
import { plainEnvironment } from '../../harness/process.js';
import { answerWith } from '../../harness/proxy.js';
import { startServer } from '../../harness/server.js';
import { temporaryFolder } from '../../harness/temporary-folder.js';
import { createCertificate } from '../../server/http/create-certificate.js';
import { linkedSystems } from '../ci/linked-systems.js';
import { at } from '../ci/repository.js';

const plugin = fileURLToPath(new URL('../../../src/ballast_pytest.py', import.meta.url));

const has = (python: string, code: string) => spawnSync(python, ['-c', code]).status === 0;
const findPython = (code: string) => ['python3', '/usr/bin/python3'].find(python => has(python, code));
const withPytest = 'import pytest; assert pytest.version_tuple >= (7,)';
const withXdist = findPython(`${withPytest}; import xdist`);
const python = withXdist ?? findPython(withPytest);

/** Code of a file of tests that writes, in a file beside it, that it was imported, and which of its tests ran. */
const SAYS = `
def says(text):
    with open('said', 'a') as file:
        file.write(text + ' ' + __file__.split('/')[-1] + '\\n')
says('imported')
`;
const passing = `${SAYS}\ndef test_one(): says('ran')\n`;

interface Ended {
  code: number | null;
  /** stdout and stderr. */
  output: string;
}

/** A suite of pytest in a folder of its own. */
class Suite {
  readonly folder = temporaryFolder();

  constructor(files: Record<string, string>) {
    for (const [path, content] of Object.entries(files)) this.write(path, content);
    writeFileSync(join(this.folder, 'ballast_pytest.py'), readFileSync(plugin));
  }

  write(path: string, content: string): void {
    mkdirSync(dirname(join(this.folder, path)), { recursive: true });
    writeFileSync(join(this.folder, path), content);
  }

  /** Lines that the files of tests wrote since the last call. */
  said(what: 'imported' | 'ran'): string[] {
    const path = join(this.folder, 'said');
    const lines = existsSync(path) ? readFileSync(path, 'utf8').trim().split('\n') : [];
    return lines.filter(line => line.startsWith(`${what} `)).map(line => line.split(' ')[1]!);
  }

  forget(): void {
    writeFileSync(join(this.folder, 'said'), '');
  }

  environment(server: Pick<Client, 'url' | 'token'>, node: number, total: number): NodeJS.ProcessEnv {
    return {
      BALLAST_URL: server.url,
      BALLAST_TOKEN: server.token,
      BALLAST_NODE_INDEX: String(node),
      BALLAST_NODE_TOTAL: String(total),
      BALLAST_BUILD_ID: '7',
      BALLAST_BRANCH: 'main',
      BALLAST_COMMIT_HASH: 'c1',
      BALLAST_RETRIES: '0',
    };
  }

  async run(args: readonly string[], environment: NodeJS.ProcessEnv, folder = ''): Promise<Ended> {
    const child = spawn(python!, ['-m', 'pytest', ...args], {
      cwd: join(this.folder, folder),
      env: plainEnvironment({ PYTHONDONTWRITEBYTECODE: '1', PYTEST_DISABLE_PLUGIN_AUTOLOAD: '1', ...environment }),
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
    return { code: code as number | null, output: stdout + stderr };
  }

  node(server: Pick<Client, 'url' | 'token'>, node: number, total: number, args: readonly string[] = [], more: NodeJS.ProcessEnv = {}) {
    return this.run(['-p', 'ballast_pytest', ...args], { ...this.environment(server, node, total), ...more });
  }
}

const ended = (code: number, ...parts: string[]) => ({
  code,
  output: expect.stringMatching(parts.map(part => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('[\\s\\S]*')) as string,
});

const build = (node_total: number) => ({ commit_hash: 'c1', branch: 'main', node_total, ci_build_id: '7' });

/** A server of the protocol with one split, for what a Ballast server does not do. */
function startStrange(answer: (body: any, response: ServerResponse, request: IncomingMessage) => void) {
  const bodies: any[] = [];
  const url = answerWith(async (request, response) => {
    const body = JSON.parse((await text(request)) || '{}') as any;
    bodies.push({ ...body, retry: request.headers['x-retry-count'] });
    answer(body, response, request);
  });
  return url.then(url => ({ url, token: 'secret-token', bodies }));
}

const MISSING = 'the tests of the plugin of pytest do not run: no python3 has pytest 7; "apt-get install python3-pytest" installs it';
if (!python) {
  process.stderr.write(`\n  ${MISSING}\n\n`);
  it.skip(MISSING);
}

describe.skipIf(!python)('pytest with the plugin', { timeout: 120_000 }, () => {
  it('runs each file on one node, slowest first, imports no other file, and records the times', async () => {
    const server = await startServer();
    const files = Array.from({ length: 6 }, (_, i) => `tests/unit/test_${i}.py`);
    const slow = (i: number) => `${SAYS}\nimport time\ntime.sleep(0.0${i})\ndef test_one():\n    says('ran')\n    time.sleep(0.${i})\n`;
    const suite = new Suite({
      ...Object.fromEntries(files.map((path, i) => [path, slow(i)])),
      'tests/package/__init__.py': '',
      'tests/package/test_in_package.py': passing,
      'tests/package/conftest.py': '',
      'tests/test_nothing.py': 'x = 1\n',
      'tests/test_skipped.py': 'import pytest\n@pytest.mark.skip\ndef test_one(): pass\n',
      'docs/test_text.txt': '>>> 1 + 1\n2\n',
    });
    const all = [...files, 'tests/package/test_in_package.py', 'tests/test_nothing.py', 'tests/test_skipped.py', 'docs/test_text.txt'];
    const runs = [];
    const imported: string[] = [];
    for (const node of [0, 1, 2]) {
      suite.forget();
      runs.push(await suite.node(server, node, 3));
      expect(new Set(suite.said('ran'))).toEqual(new Set(suite.said('imported')));
      imported.push(...suite.said('imported'));
    }
    for (const [node, run] of runs.entries())
      expect(run).toEqual(
        ended(0, `ballast: node ${node} of 3 (from 0), CI run 7, ${server.url}`, 'of 10 test files', 'ballast: recorded '),
      );
    expect(imported.sort()).toEqual(['test_0.py', 'test_1.py', 'test_2.py', 'test_3.py', 'test_4.py', 'test_5.py', 'test_in_package.py']);
    await expectCompleteness(server, build(3), 200, { test_files: 10, recorded: 10, recorded_without_time: [], recorded_twice: [] });
    const times = await fetchRecordedTimes(server);
    expect(Object.keys(times).sort()).toEqual(all.sort());
    // The import counts.
    expect(times['tests/unit/test_5.py']).toBeGreaterThan(0.55);
    expect(times).toMatchObject({ 'tests/test_nothing.py': 0, 'tests/test_skipped.py': 0 });

    suite.forget();
    // Measured times depend on the load of the machine, and could be in another order.
    const other = await startServer();
    await record(other, { test_files: files.map((path, i) => ({ path, time_execution: i + 1 })) });
    expect(await suite.node(other, 0, 1, ['tests/unit'], { BALLAST_COMMIT_HASH: 'c2' })).toEqual(ended(0, 'expected to take 21'));
    const slowestFirst = [5, 4, 3, 2, 1, 0].map(i => `test_${i}.py`);
    expect(suite.said('ran')).toEqual(slowestFirst);
  });

  it.each<[what: string, mutes: string[], code: number, muted: string[], args?: string[]]>([
    ['files', ['test_a.py', 'test_b.py'], 0, ['test_a.py', 'test_b.py']],
    ['test cases', ['test_a.py::test_one[a::b]', 'test_b.py::TestB::test_two'], 0, ['test_a.py', 'test_b.py']],
    ['test cases by their names', ['test_a.py::test_one[a::b]', 'test_b.py::test_two'], 0, ['test_a.py', 'test_b.py']],
    [
      'test cases, in workers',
      ['test_a.py::test_one[a::b]', 'test_b.py::test_two'],
      0,
      ['test_a.py', 'test_b.py'],
      ['-p', 'xdist', '-n', '2'],
    ],
    ['one of two', ['test_b.py'], 1, ['test_b.py']],
    ['other test cases', ['test_a.py::test_one[b]', 'test_b.py::B::test_two'], 1, []],
    ['files, but fails for another reason, too', ['test_a.py', 'test_b.py'], 1, [], ['-p', 'fails_more']],
    ['files, and ends early', ['test_a.py', 'test_b.py'], 1, [], ['-x']],
  ])('whose repository mutes %s', async (_, mutes, code, muted, args = []) => {
    if (args.includes('xdist') && !withXdist) return;
    const server = await startServer();
    const suite = new Suite({
      'test_a.py': "import pytest\n@pytest.mark.parametrize('x', ['a::b'])\ndef test_one(x): assert False\ndef test_two(): pass\n",
      'test_b.py': 'class TestB:\n    def test_two(self): assert False\n',
      'test_c.py': passing,
      'fails_more.py':
        'import pytest\n@pytest.hookimpl(hookwrapper=True)\ndef pytest_runtestloop(session):\n    yield\n    session.testsfailed += 1\n',
      '.ballast/muted': mutes.map(name => `${name} until=2999-12-31 owner=@web reason=issue 4711\n`).join(''),
    });
    const parts = code === 0 ? ['2 muted failures: test_a.py (.ballast/muted:1, until 2999-12-31, @web: issue 4711)'] : [];
    expect(await suite.node(server, 0, 1, args)).toEqual(ended(code, ...parts));
    const { json } = await getCompleteness(server, build(1));
    expect((json.muted ?? []).map(({ path }: { path: string }) => path)).toEqual(muted);
  });

  it('fails before a test runs if a line of the muted failures is malformed or expired', async () => {
    const suite = new Suite({ 'test_a.py': passing, '.ballast/muted': '# one\ntest_a.py until=2025-01-31 owner=@web reason=r\n' });
    expect(await suite.node(unreachableServer, 0, 1)).toEqual(ended(4, 'ballast: .ballast/muted:2: "test_a.py" expired: '));
    expect(suite.said('ran')).toEqual([]);
  });

  it('of more nodes than files is green where nothing is left', async () => {
    const server = await startServer();
    const suite = new Suite({ 'test_a.py': passing, 'test_b.py': passing });
    const runs = await Promise.all([0, 1, 2, 3].map(node => suite.node(server, node, 4)));
    expect(runs.map(({ code }) => code)).toEqual([0, 0, 0, 0]);
    expect(runs.filter(({ output }) => output.includes('there are more nodes than test files (2): nothing is left'))).toHaveLength(2);
    await expectCompleteness(server, build(4), 200, { test_files: 2, recorded: 2 });
    const none = new Suite({ 'a.py': '' });
    expect((await none.node(server, 0, 1)).code).toBe(5);
  });

  it('is green on a node where no test was selected, and red on the last one when none was on any', async () => {
    const server = await startServer();
    const suite = new Suite({ 'test_a.py': 'def test_one(): pass\n', 'test_b.py': 'def test_two(): pass\n' });
    const runs = [await suite.node(server, 0, 2, ['-k', 'one']), await suite.node(server, 1, 2, ['-k', 'one'])];
    expect(runs.map(({ code }) => code)).toEqual([0, 0]);
    expect(runs.filter(({ output }) => output.includes('no test was selected in the 1 test file of this node'))).toHaveLength(1);
    await expectCompleteness(server, build(2), 200, { recorded: 2, no_test_ran: false });

    const none = (node: number) => suite.node(server, node, 2, ['-k', 'no_such_name'], { BALLAST_COMMIT_HASH: 'c2' });
    expect((await none(0)).code).toBe(0);
    const last = await none(1);
    expect(last).toEqual(ended(5, 'ERROR: no test ran in the only test file of this node, nor in any other of this CI run'));
    await expectCompleteness(server, { ...build(2), commit_hash: 'c2' }, 409, { recorded: 2, no_test_ran: true });

    suite.write('test_a.py', 'import pytest\n@pytest.mark.skip\ndef test_one(): pass\n');
    const skipped = await suite.node(server, 0, 1, ['test_a.py'], { BALLAST_COMMIT_HASH: 'c3' });
    expect(skipped).toEqual(ended(1, 'ERROR: no test ran in the only test file'));
    const fallback = await suite.node(unreachableServer, 0, 2, ['-k', 'no_such_name', '--ballast-fallback']);
    expect(fallback).toEqual(ended(5, 'the times are not recorded', 'ERROR: no test ran in any of the 2 test files'));
  });

  it.skipIf(!withXdist)('gives all workers of xdist one part, and records it once, with what each of them imported', async () => {
    const server = await startServer();
    const importing = `${SAYS}\nimport time\ntime.sleep(0.2)\ndef test_one(): says('ran')\ndef test_two(): says('ran')\n`;
    const names = ['test_a.py', 'test_b.py', 'test_c.py', 'test_d.py'];
    const suite = new Suite(Object.fromEntries(names.map(name => [name, importing])));
    const parallel = ['-p', 'xdist.plugin', '-n', '2'];
    const runs = [await suite.node(server, 0, 2, parallel), await suite.node(server, 1, 2, parallel)];
    expect(runs).toEqual([ended(0, 'ballast: recorded 2 test files'), ended(0, 'ballast: recorded 2 test files')]);
    expect(suite.said('ran').sort()).toEqual(names.flatMap(name => [name, name]));
    expect(suite.said('imported').sort()).toEqual(names.flatMap(name => [name, name]));
    await expectCompleteness(server, build(2), 200, { recorded: 4, recorded_twice: [] });
    for (const seconds of Object.values(await fetchRecordedTimes(server))) expect(seconds).toBeGreaterThan(0.4);

    suite.write('test_a.py', 'import os\ndef test_one(): os._exit(1)\ndef test_two(): pass\n');
    const crashed = await suite.node(server, 0, 1, parallel);
    expect(crashed).toEqual(ended(1, '1 test file of this node did not run to the end, and was not recorded: test_a.py'));
    await expectCompleteness(server, build(1), 409, { recorded: 3 });
    expect(await suite.node(unreachableServer, 0, 2, parallel)).toEqual(ended(3, 'no answer from POST', 'no test was run'));
  });

  it.skipIf(!withXdist).each(END_SIGNALS)('records what the workers of xdist ran before %s', async signal => {
    const server = await startServer();
    const suite = new Suite({
      'test_a.py': `import os, signal, time\ndef test_one():\n  time.sleep(2)\n  os.kill(os.getppid(), signal.${signal})\n  time.sleep(60)\n`,
      'test_b.py': passing,
    });
    expect(await suite.node(server, 0, 1, ['-p', 'xdist.plugin', '-n', '2'])).toEqual(
      ended(2, 'recorded 1 test file', 'not recorded: test_a.py'),
    );
    await expectCompleteness(server, build(1), 409, { recorded: 1 });
  });

  it('is red when something ends pytest with 0 before its end', async () => {
    const server = await startServer();
    const [early, forks] = ['os._exit(0)', 'os.fork() or os._exit(0)'].map(
      end => new Suite({ 'test_a.py': `import os\ndef test_one(): ${end}\n`, 'test_b.py': 'def test_one(): pass\n' }),
    ) as [Suite, Suite];
    expect(await early.node(server, 0, 1)).toEqual(ended(1, 'ERROR: a call of os._exit(0) ended pytest early, and nothing was recorded'));
    expect(await forks.node(server, 0, 1)).toEqual(ended(0, 'recorded 2 test files'));
    forks.write('test_a.py', `import pytest\ndef test_one(): pytest.exit('early', returncode=0)\n`);
    expect(await forks.node(server, 0, 1)).toEqual(ended(1, 'test file'));
    for (const [hook, call] of [
      ['', 'sys.exit(0)'],
      ['', 'sys.exit()'],
      ['', 'os._exit(0)'],
      ['def pytest_addoption(): ', 'sys.exit(0)'],
      ['def pytest_configure(): ', 'os._exit(0)'],
      ['def pytest_configure(): ', 'pytest.exit("early", returncode=0)'],
      ['def pytest_sessionstart(): ', 'pytest.exit("early", returncode=0)'],
      ['def pytest_cmdline_main(): ', 'sys.exit(0)'],
      ['def pytest_cmdline_main(): ', 'return 0'],
    ] as const) {
      const suite = new Suite({ 'test_a.py': 'def test_one(): pass\n', 'conftest.py': `import os, pytest, sys\n${hook}${call}\n` });
      expect(await suite.node(server, 0, 1), call).toEqual(ended(1, 'ended pytest early, and nothing was recorded'));
    }
    // Everything was recorded.
    const late = new Suite({ 'test_a.py': 'def test_one(): pass\n', 'conftest.py': 'import os\ndef pytest_unconfigure(): os._exit(0)\n' });
    expect((await late.node(server, 0, 1)).code).toBe(0);
  });

  it('does not divide again the tests that a test of the suite runs', async () => {
    const nested = `
import os, subprocess, sys
def test_nested(tmp_path):
    (tmp_path / 'test_inner.py').write_text('def test_inner(): pass')
    command = [sys.executable, '-m', 'pytest', '-p', 'ballast_pytest', str(tmp_path)]
    run = subprocess.run(command, stdout=subprocess.PIPE, universal_newlines=True)
    assert run.returncode == 0 and '1 passed' in run.stdout and 'ballast:' not in run.stdout
`;
    const server = await startServer();
    expect(await new Suite({ 'test_nested.py': nested }).node(server, 0, 1)).toEqual(ended(0, 'recorded 1 test file'));
  });

  it('does nothing where the number of nodes is not known, and where tests are only listed', async () => {
    const server = await startStrange((_, response) => response.writeHead(500).end());
    const suite = new Suite({ 'test_a.py': passing });
    const unnumbered = { BALLAST_NODE_INDEX: undefined, BALLAST_NODE_TOTAL: undefined };
    const own = await suite.node(server, 0, 1, [], { ...unnumbered, BALLAST_URL: undefined });
    expect({ ...own, isQuiet: !own.output.includes('ballast:') }).toMatchObject({ code: 0, isQuiet: true });
    const ofOneJob = { ...unnumbered, BALLAST_URL: undefined, GITLAB_CI: 'true', CI_NODE_TOTAL: '1' };
    expect((await suite.node(server, 0, 1, [], ofOneJob)).code).toBe(0);
    expect(await suite.node(server, 0, 1, [], unnumbered)).toEqual(
      ended(0, 'not active, because the number of nodes is not known: set BALL'),
    );
    expect((await suite.node(server, 0, 1, ['--collect-only'])).code).toBe(0);
    expect(server.bodies).toEqual([]);
    expect(await suite.node(server, 0, 1, ['--ballast'], unnumbered)).toEqual(ended(4, 'the number of nodes is not known: set BALL'));
  });

  it('names every missing or invalid setting, and never the token', async () => {
    const suite = new Suite({ 'test_a.py': passing });
    const nothing = { BALLAST_URL: undefined, BALLAST_TOKEN: undefined, BALLAST_NODE_INDEX: '4' };
    expect(await suite.node(unreachableServer, 0, 2, [], nothing)).toEqual(ended(4, 'set BALLAST_URL', 'set BALLAST_TOKEN'));
    expect(await suite.node(unreachableServer, 2, 2)).toEqual(
      ended(4, 'the index of this node is 2, but the last of 2 nodes has the index 1'),
    );
    const secrets = { BALLAST_URL: 'https://me:pass-word@example.com/?key=hidden', BALLAST_TOKEN: 'two hidden-words' };
    const run = await suite.node(unreachableServer, 0, 2, [], secrets);
    expect(run).toEqual(ended(4, '"https://***@example.com/?***"', 'BALLAST_TOKEN has characters'));
    expect(run.output).not.toMatch(/hidden|pass-word/);
    suite.write(
      'conftest.py',
      'def pytest_addoption(parser):\n    parser.addoption("--splits", type=int)\n    parser.addoption("--group", type=int)\n',
    );
    expect(await suite.node(unreachableServer, 0, 2, ['--splits', '2'])).toEqual(ended(4, 'pytest-split would leave out tests'));
    expect(suite.said('ran')).toEqual([]);
  });

  it('runs nothing when the server does not answer, or everything with --ballast-fallback', async () => {
    const server = await startStrange((_, response) =>
      response.writeHead(503, { 'Retry-After': '0' }).end('{"errors":["busy\\u001b[2J"]}'),
    );
    const suite = new Suite({ 'test_a.py': passing, 'test_b.py': passing });
    const red = await suite.node(server, 0, 2, [], { BALLAST_RETRIES: '2' });
    expect(red).toEqual(
      ended(3, `no answer from POST ${server.url}/v1/`, '3 times (it answered 503: busy\\u001b[2J)', '--ballast-fallback'),
    );
    expect(red.output).not.toContain('secret-token');
    expect(server.bodies.map(({ retry }) => retry)).toEqual(['0', '1', '2']);
    expect(suite.said('ran')).toEqual([]);
    const green = await suite.node(server, 0, 2, ['--ballast-fallback']);
    expect(green).toEqual(ended(0, 'this node runs all 2 test files', 'WARNING: the times are not recorded'));
    expect(suite.said('ran').sort()).toEqual(['test_a.py', 'test_b.py']);
  });

  const split = (more: object = {}) => ({
    build_distribution_id: 'd1',
    node_index: 0,
    test_files: [{ path: 'test_a.py', time_execution: 1 }],
    test_files_digest: digestOfList(['test_a.py', 'test_b.py']),
    ...more,
  });

  it.each([
    ['an empty object', 200, {}, 'was not answered by a server of Ballast', 3],
    ['a split of another list', 200, split({ test_files_digest: 'other' }), 'was not answered by a server of Ballast', 3],
    ['the part of another node', 200, split({ node_index: 1 }), 'was not answered by a server of Ballast', 3],
    ['a time that is none', 200, split({ test_files: [{ path: 'test_a.py', time_execution: true }] }), 'was not answered', 3],
    ['a refusal', 401, { errors: ['no such token'] }, 'was refused with 401: no such token', 3],
    ['a redirect', 302, '<html>', 'was answered with 302, a redirect to /login: set BALLAST_URL', 3],
    ['another list', 409, { errors: ['the split was made of 3 test files'] }, 'was refused with 409: the split was made of 3', 4],
    ['a file that is not in the list', 200, split({ test_files: [{ path: 'x.py', time_execution: 1 }] }), 'does not collect (x.py)', 4],
  ])('runs nothing when the answer is %s', async (_, status, answer, message, code) => {
    const server = await startStrange((_, response) =>
      response.writeHead(status, { Location: '/login' }).end(typeof answer === 'string' ? answer : JSON.stringify(answer)),
    );
    const suite = new Suite({ 'test_a.py': passing, 'test_b.py': passing });
    expect(await suite.node(server, 0, 2, ['--ballast-fallback'])).toEqual(ended(code, `ballast: ERROR: `, message));
    expect(suite.said('imported')).toEqual([]);
  });

  it('tells with each request for its part which tree it tests, and hashes of what else the tests depend on', async () => {
    const asked: any[] = [];
    const server = await startStrange((body, response) => {
      if (body.cache_read_attempt === undefined) return response.writeHead(201).end();
      asked.push(body);
      return response.end(JSON.stringify(split()));
    });
    const suite = new Suite({ 'test_a.py': passing, 'test_b.py': passing, '.gitignore': 'said\n.pytest_cache\n' });
    const repository = at(suite.folder);
    repository.git('init', '-q');
    repository.commit();
    const tell = async (more: NodeJS.ProcessEnv = {}) => {
      expect((await suite.node(server, 0, 2, [], more)).code).toBe(0);
      const told = asked.splice(0).map(({ tree, tree_doubt, proof_keys }) => ({ tree, tree_doubt, proof_keys }));
      expect(told).toEqual([told[0], told[0]]);
      return told[0];
    };
    const hashes = (...texts: string[]) => texts.map(each => createHash('sha256').update(each).digest('hex')).sort();
    const tree = repository.git('rev-parse', 'HEAD^{tree}').trim();
    const keys = { BALLAST_PROOF_KEYS: 'python 3.12\r\n\n ubuntu-24.04 \n' };
    expect(await tell(keys)).toEqual({ tree, proof_keys: hashes('python 3.12', 'ubuntu-24.04') });
    suite.write('new.py', '');
    expect(await tell()).toEqual({ tree, tree_doubt: 'new.py is not committed', proof_keys: [] });
    writeFileSync(join(suite.folder, 'git'), '#!/bin/sh\necho "fatal: no memory" >&2; exit 128\n', { mode: 0o755 });
    const failing = { PATH: `${suite.folder}:${process.env.PATH}` };
    expect(await tell(failing)).toEqual({ tree_doubt: 'no memory', proof_keys: [] });

    const inner = new Suite({ 'pkg/test_a.py': passing, 'pkg/test_b.py': passing, '.gitignore': 'said\n.pytest_cache\n' });
    at(inner.folder).git('init', '-q');
    at(inner.folder).commit();
    const inPackage = { ...inner.environment(server, 0, 2), PYTHONPATH: inner.folder };
    expect((await inner.run(['-p', 'ballast_pytest'], inPackage, 'pkg')).code).toBe(0);
    expect(asked[0].proof_keys).toEqual(hashes('folder=pkg/'));
    const long = await suite.node(server, 0, 2, [], { BALLAST_PROOF_KEYS: 'x'.repeat(1001) });
    expect(long).toEqual(ended(4, 'a line of BALLAST_PROOF_KEYS has 1001 characters: give at most 1,000, such as its hash'));
  });

  it('fails when the server lost the split during the run, or does not record it', async () => {
    let asked = 0;
    const server = await startStrange((body, response) =>
      body.cache_read_attempt === undefined
        ? response.writeHead(201).end()
        : response.end(JSON.stringify(split({ build_distribution_id: `d${++asked}` }))),
    );
    const suite = new Suite({ 'test_a.py': passing, 'test_b.py': passing });
    expect(await suite.node(server, 0, 2)).toEqual(ended(3, 'no longer has the split that this node ran a part of (d1)'));
    expect(suite.said('ran')).toEqual(['test_a.py']);
    const away = await startStrange((body, response) =>
      body.cache_read_attempt === undefined ? response.writeHead(500).end() : response.end(JSON.stringify(split())),
    );
    expect(await suite.node(away, 0, 2)).toEqual(ended(3, 'the times of 1 test file are not recorded'));
  });

  it('records only files that ran to the end, and is red when one did not', async () => {
    const server = await startServer();
    const failing = 'def test_fails(): assert False\ndef test_after(): pass\n';
    // The slower file runs first.
    const suite = new Suite({ 'test_a.py': failing, 'test_b.py': `${SAYS}\nimport time\ndef test_one(): time.sleep(0.3)\n` });
    const failed = await suite.node(server, 0, 1);
    expect(failed).toEqual(ended(1, 'recorded 2 test files'));
    await expectCompleteness(server, build(1), 200, { recorded: 2 });
    const commit = (name: string, more = {}) => ({ BALLAST_COMMIT_HASH: name, BALLAST_BUILD_ID: name, ...more });
    const of = (name: string) => ({ ...build(1), commit_hash: name, ci_build_id: name });

    const stopped = await suite.node(server, 0, 1, ['-x'], commit('stopped'));
    expect(stopped).toEqual(ended(1, 'did not run to the end, and was not recorded: test_a.py'));
    await expectCompleteness(server, of('stopped'), 409, { handed_out_not_recorded: [expect.objectContaining({ path: 'test_a.py' })] });

    suite.write('test_a.py', 'import no_such_module\n');
    expect(await suite.node(server, 0, 1, [], commit('unloaded'))).toEqual(ended(2, 'was not recorded: test_b.py'));
    await expectCompleteness(server, of('unloaded'), 409, { recorded: 0, recorded_without_time: [{ path: 'test_a.py' }] });

    suite.write('test_a.py', 'import pytest\ndef test_exits(): pytest.exit("enough", returncode=0)\n');
    expect(await suite.node(server, 0, 1, [], commit('exits'))).toEqual(ended(1, 'not recorded: test_a.py'));

    for (const signal of END_SIGNALS) {
      suite.write('test_a.py', `import os, signal\ndef test_interrupts(): os.kill(os.getpid(), signal.${signal})\n`);
      expect(await suite.node(server, 0, 1, [], commit(signal))).toEqual(ended(2, 'not recorded: test_a.py'));
      await expectCompleteness(server, of(signal), 409, {
        recorded: 1,
        handed_out_not_recorded: [expect.objectContaining({ path: 'test_a.py' })],
      });
    }

    suite.write('sub/conftest.py', 'import no_such_module\n');
    suite.write('sub/test_c.py', passing);
    suite.forget();
    expect((await suite.node(server, 0, 1, [], commit('unlisted'))).code).toBe(2);
    expect(suite.said('imported')).toEqual([]);
  });

  it('trusts the certificates in SSL_CERT_FILE', async () => {
    const certificate = createCertificate('127.0.0.1');
    const server = await startServer(certificate);
    const suite = new Suite({ 'test_a.py': passing });
    expect(await suite.node(server, 0, 1)).toEqual(ended(3, 'set SSL_CERT_FILE to a file of certificates to trust'));
    const trusting = await suite.node(server, 0, 1, [], { SSL_CERT_FILE: certificate.tlsCert });
    // It names no address, as addresses need an extension.
    expect(trusting).toEqual(ended(3, 'mismatch'));
  });

  it('needs no change of the command when it is installed', async () => {
    const server = await startServer();
    const suite = new Suite({ 'test_a.py': passing });
    const { name, bytes } = wheelOf('0.1.0', readFileSync(plugin), Buffer.from('MIT'));
    writeFileSync(join(suite.folder, name), bytes);
    // Python reads a wheel as it reads a folder of installed packages.
    const installed = { PYTHONPATH: join(suite.folder, name), PYTEST_DISABLE_PLUGIN_AUTOLOAD: undefined };
    const environment = { ...suite.environment(server, 0, 1), ...installed };
    expect(await suite.run([], environment)).toEqual(ended(0, 'recorded 1 test file'));
    expect(await suite.run(['-p', 'ballast_pytest'], environment)).toEqual(ended(0, 'recorded 1 test file'));
  });

  it('is handed out by the server, with its checksum', async () => {
    const server = await startServer();
    const answer = await fetch(`${server.url}/ballast_pytest.py`);
    expect(answer.headers.get('Content-Type')).toBe('text/x-python; charset=utf-8');
    const checksum = await (await fetch(`${server.url}/ballast_pytest.py.sha256`)).text();
    const bytes = Buffer.from(await answer.arrayBuffer());
    expect(checksum).toBe(`${createHash('sha256').update(bytes).digest('hex')}  ballast_pytest.py\n`);
  });
});

/** Prints what the plugin makes of a list of environments, for a Python that may lack pytest. */
const IDENTIFY = `
import json, sys, unittest.mock
sys.modules['pytest'] = unittest.mock.MagicMock()
import ballast_pytest
git = lambda *args: 'of-git' if args == ('HEAD',) else None
print(json.dumps([[*ballast_pytest.identify(each, git), ballast_pytest.node_links(each)] for each in json.load(sys.stdin)]))
`;

/** Prints the faults that the plugin finds in a file of muted failures. */
const FAULTS = `
import json, sys, unittest.mock
sys.modules['pytest'] = unittest.mock.MagicMock()
import ballast_pytest
print(json.dumps(ballast_pytest.read_mutes('.', '2026-11-30')[1]))
`;

describe.skipIf(!findPython('import sys; assert sys.version_info >= (3, 8)'))('a node', () => {
  it('finds the same faults in muted failures with the plugin of pytest as with the client', () => {
    const end = 'until=2026-11-30 owner=@web reason=r';
    const names = ['a b.py', 'a.py::one until=5', 'ä.py', '::x', 'y::'];
    const ends = [end, '', 'until=2026-02-30 owner=o reason=r', 'until=2026-11-29 owner=@web reason=r', 'until=2026-11-30 owner= reason=r'];
    const more = ['until=2026-11-30 owner=o', 'owner=o until=2026-11-30 reason=r', 'until=2026-11-30 reason=r'];
    const lines = names.flatMap(name => [...ends, ...more].map((each, i) => `${' '.repeat(i % 2)}${name} ${each}`));
    const file = `\uFEFF# one\r\n${lines.join('\r\n')}\n\n${lines[0]}`;
    const suite = new Suite({ '.ballast/muted': file });
    const { stdout } = spawnSync('python3', ['-c', FAULTS], { cwd: suite.folder, encoding: 'utf8' });
    let faults: readonly string[] = [];
    try {
      parseMutes(file, Date.parse('2026-11-30'));
    } catch (error) {
      faults = (error as UsageError).errors;
    }
    expect(faults.length).toBeGreaterThan(30);
    expect(JSON.parse(stdout)).toEqual(faults);
  });

  it('is identified by the plugin of pytest as by the client, on every CI system, and has the same addresses', () => {
    const texts = ['', '3', '0', ' 4 ', 'refs/heads/main', 'refs/tags/v1', 'origin/main', 'HEAD', 'c0ffee1', '1\n', '12345678901', '-1'];
    const environments: Record<string, string>[] = [];
    for (const system of [...systems, null]) {
      const marks = Object.fromEntries(
        (system?.marks ?? []).map(mark => (typeof mark === 'string' ? [mark, 'x'] : [mark.name, mark.value])),
      );
      const fields = [system?.nodeIndex, system?.nodeTotal, system?.buildId, system?.branch, system?.commitHash].flatMap(all => all ?? []);
      const names = [...fields.map(each => (typeof each === 'string' ? each : each.name)), 'CI_NODE_INDEX', 'CI_NODE_TOTAL'];
      const usual = { ...Object.fromEntries(names.map(name => [name, '3'])), ...marks };
      const own = ['INDEX', 'TOTAL'].map(name => `BALLAST_NODE_${name}`);
      environments.push(marks, usual, { ...usual, BALLAST_NODE_TOTAL: '1' }, { ...usual, CI_NODE_TOTAL: '1', CI_NODE_INDEX: '' });
      for (const name of [...names, ...own, 'BALLAST_BRANCH', 'BALLAST_BUILD_ID', 'BALLAST_COMMIT_HASH'])
        for (const value of texts) environments.push({ ...usual, BALLAST_NODE_TOTAL: '9', [name]: value });
    }
    const addresses = [
      '',
      'x',
      'git@github.com:a/b.git',
      'ssh://git@gitlab.com:22/a/b',
      'http://me:secret@bitbucket.org/a/b/',
      'http://git.example.com:80/a',
      'ftp://a/b',
    ];
    for (const [, environment] of linkedSystems) {
      environments.push({ ...(environment as Record<string, string>) });
      for (const name of Object.keys(environment).slice(1))
        for (const value of addresses) environments.push({ ...(environment as Record<string, string>), [name]: value });
    }
    const run = spawnSync(findPython('')!, ['-c', IDENTIFY], {
      env: { ...plainEnvironment(), PYTHONPATH: dirname(plugin), PYTHONDONTWRITEBYTECODE: '1' },
      input: JSON.stringify(environments),
      encoding: 'utf8',
      maxBuffer: 2 ** 26,
    });
    expect(run.stderr).toBe('');
    const found = JSON.parse(run.stdout) as [object, string[], object][];
    const expected = environments.map(environment => identifyAsClient(environment));
    expect(environments.length).toBeGreaterThan(1000);
    for (const [i, [identity, errors, links]] of found.entries())
      expect({ environment: environments[i], ...(errors.length > 0 ? { errors } : { identity }), links }).toEqual({
        environment: environments[i],
        ...expected[i],
        links: nodeLinks(environments[i]!),
      });
  });
});

/** The same by the client, with errors that name variables only. */
function identifyAsClient(environment: Environment): { identity: object } | { errors: string[] } {
  const fields = Object.keys(identityFields) as IdentityField[];
  // The flags of the client trim what they read.
  const options: IdentityOptions = Object.fromEntries(fields.map(field => [field, environment[identityFields[field].variable]?.trim()]));
  try {
    const { build_id: ci_build_id, ...node } = identify(
      wholeIdentity,
      { ...options, environment },
      { branch: () => null, commitHash: () => 'of-git' },
    );
    return { identity: { ...node, ci_build_id } };
  } catch (error) {
    const inVariables = (message: string) =>
      message
        .replace(/give --\S+ <\w+> or set/, 'set')
        .replace(/\(--([a-z-]+)\)$/, (_, flag) => `(BALLAST_${flag.toUpperCase().replace('-', '_')})`);
    return { errors: (error as UsageError).errors.map(inVariables) };
  }
}
