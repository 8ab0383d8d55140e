import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, existsSync, mkdirSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { END_SIGNALS, signalExitCode } from '../../../src/base/signals.js';
import { outcomeOf } from '../../../src/server/engine/test-file.js';
import { unreachableServer } from '../../cli/test-project.js';
import type { Client } from '../../harness/client.js';
import { expectCompleteness, getCompleteness } from '../../harness/completeness.js';
import { record, timedTestFiles } from '../../harness/messages.js';
import { plainEnvironment, runBallast } from '../../harness/process.js';
import { startServer } from '../../harness/server.js';
import { temporaryFolder } from '../../harness/temporary-folder.js';

const packages = fileURLToPath(new URL('../../../../node_modules', import.meta.url));
const built = (name: string) => fileURLToPath(new URL(`../../../src/${name}`, import.meta.url));

interface Runner {
  plugin: string;
  /** The imports of a test file. */
  imports: string;
  command: readonly string[];
  config: Readonly<Record<string, string>>;
  /** True if files run in the order that Ballast gives. */
  isOrdered: boolean;
}

const runners: Readonly<Record<string, Runner>> = {
  jest: {
    plugin: 'ballast-jest.mjs',
    imports: `const { appendFileSync } = require('node:fs');`,
    command: ['node_modules/jest/bin/jest.js', '--runInBand'],
    config: {
      'package.json': '{"jest":{"testEnvironment":"node","transform":{},"cacheDirectory":"cache","testSequencer":"./ballast-jest.mjs"}}',
    },
    isOrdered: true,
  },
  vitest: {
    plugin: 'ballast-vitest.mjs',
    imports: `import { appendFileSync } from 'node:fs'; import { test } from 'vitest';`,
    command: ['node_modules/vitest/vitest.mjs', 'run', '--no-file-parallelism'],
    config: {
      'package.json': '{"type":"module"}',
      // The root of projects that do not take over its plugins.
      'vitest.config.ts': `import ballast from './ballast-vitest.mjs';
        const include = ['test/*.test.js'];
        export default { plugins: [ballast()], test: { projects: [{ test: { name: 'one', include } }, { test: { name: 'two', include } }] } };`,
    },
    isOrdered: true,
  },
  playwright: {
    plugin: 'ballast-playwright.mjs',
    imports: `import { appendFileSync } from 'node:fs'; import { test } from '@playwright/test';`,
    command: ['node_modules/@playwright/test/cli.js', 'test', '--workers=1'],
    config: {
      'package.json': '{"type":"module"}',
      'login.setup.js': `import { test } from '@playwright/test'; test('log in', () => {});`,
      'playwright.config.ts': `export default { reporter: './ballast-playwright.mjs', projects: [
        { name: 'setup', testMatch: /setup/ }, { name: 'one', testMatch: /test\\.js/, dependencies: ['setup'] }, { name: 'two', testMatch: /test\\.js/ }] };`,
    },
    isOrdered: false,
  },
};

const FILES = ['test/a.test.js', 'test/b.test.js'];

/** A project whose tests write the names of their files to a file. */
class RunnerProject {
  readonly folder = realpathSync(temporaryFolder());

  constructor(readonly runner: Runner) {
    mkdirSync(join(this.folder, 'test'));
    symlinkSync(packages, join(this.folder, 'node_modules'));
    copyFileSync(built(runner.plugin), join(this.folder, runner.plugin));
    for (const [name, content] of Object.entries(runner.config)) this.write(name, content);
    for (const path of FILES) this.writeTest(path);
  }

  write(path: string, content: string): void {
    writeFileSync(join(this.folder, path), content);
  }

  /** @param more statements of the test */
  writeTest(path: string, more = ''): void {
    this.write(path, `${this.runner.imports}\ntest('one', () => { appendFileSync('ran.txt', '${path}\\n'); ${more} });\n`);
  }

  /**
   * Runs one shard, or, without a number, the test runner as it is.
   * @param detached true: in a process group of its own
   */
  async run(
    server: Pick<Client, 'url' | 'token'> | null,
    index: number | null,
    count: number,
    commit: string,
    more: NodeJS.ProcessEnv = {},
    detached = false,
  ) {
    const ran = join(this.folder, 'ran.txt');
    rmSync(ran, { force: true });
    // The environment of this vitest must not reach the runner.
    const inner = Object.keys(process.env).filter(name => /^(VITEST|JEST|TEST$|NODE_ENV|PLAYWRIGHT)/.test(name));
    const child = spawn(process.execPath, [...this.runner.command, ...(index === null ? [] : [`--shard=${index}/${count}`])], {
      cwd: this.folder,
      env: plainEnvironment({
        ...Object.fromEntries(inner.map(name => [name, undefined])),
        ...(server && { BALLAST_URL: server.url, BALLAST_TOKEN: server.token }),
        ...{ BALLAST_BUILD_ID: '7', BALLAST_BRANCH: 'main', BALLAST_COMMIT_HASH: commit, BALLAST_RETRIES: '0', NO_COLOR: '1' },
        ...more,
      }),
      stdio: ['ignore', 'pipe', 'pipe'],
      detached,
    });
    const [stdout, stderr, [code, signal]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
    const paths = existsSync(ran) ? readFileSync(ran, 'utf8').split('\n').slice(0, -1) : [];
    // Projects run the same file.
    return {
      code: code as number | null,
      signal: signal as string | null,
      output: `${stdout}${stderr}`,
      ran: [...new Set(paths)],
      count: paths.length,
    };
  }
}

/** The address of a proxy that answers 503 to recordings. */
async function withoutRecordings(server: Client): Promise<string> {
  const proxy = createServer(async (request, response) => {
    if (request.url === '/v1/build_subsets') return response.writeHead(503).end();
    const headers = { 'Content-Type': 'application/json', 'SERVICE-TEST-SUITE-TOKEN': server.token };
    const answer = await fetch(`${server.url}${request.url}`, { method: 'POST', headers, body: await text(request) });
    return response.writeHead(answer.status).end(await answer.text());
  }).listen(0, '127.0.0.1');
  onTestFinished(() => void proxy.close());
  await once(proxy, 'listening');
  return `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
}

const complete = (server: Client, commit_hash: string, node_total: number) =>
  getCompleteness(server, { commit_hash, branch: 'main', node_total, ci_build_id: '7' });

describe.each(Object.entries(runners))('%s with Ballast', (name, runner) => {
  it('runs each file on one node, the slowest first, and records it; a node without files is green', { timeout: 240_000 }, async () => {
    const [server, project] = [await startServer(), new RunnerProject(runner)];
    const seconds = Object.fromEntries(FILES.map((path, i) => [path, [1, 40][i]!]));
    await record(server, { commit_hash: 'before', branch: 'main', node_total: 1, test_files: timedTestFiles(seconds) });
    const alone = await project.run(server, 1, 1, 'c1');
    expect(alone, alone.output).toMatchObject({ code: 0 });
    expect(runner.isOrdered ? alone.ran : alone.ran.toSorted((a, b) => seconds[b]! - seconds[a]!)).toEqual(
      FILES.toSorted((a, b) => seconds[b]! - seconds[a]!),
    );
    const nodes = [];
    for (const index of [1, 2, 3]) nodes.push(await project.run(server, index, 3, 'c2'));
    for (const { code, output } of nodes) expect(code, output).toBe(0);
    expect(nodes.flatMap(({ ran }) => ran).sort()).toEqual(FILES);
    const empty = nodes.find(({ ran }) => ran.length === 0)!;
    expect(empty.output).toContain('has nothing to run: there are more nodes than test files (2)');
    for (const [commit, total] of [
      ['c1', 1],
      ['c2', 3],
    ] as const)
      expect((await complete(server, commit, total)).json).toMatchObject({ is_complete: true, recorded: 2, recorded_without_time: [] });
  });

  it('runs everything without --shard, and nothing with it unless there is a server or a fallback', { timeout: 240_000 }, async () => {
    const project = new RunnerProject(runner);
    const plain = await project.run(null, null, 1, 'c1');
    expect({ ...plain, ran: plain.ran.toSorted() }, plain.output).toMatchObject({ code: 0, ran: FILES });
    expect(plain.output).toContain('ballast: without --shard, this process runs all its test files');
    const away = await project.run(unreachableServer, 1, 2, 'c1');
    expect(away, away.output).toMatchObject({ code: 1, ran: [] });
    expect(away.output).toContain('or set BALLAST_FALLBACK=true to run every test file');
    const all = await project.run(unreachableServer, 1, 2, 'c1', { BALLAST_FALLBACK: 'true' });
    expect({ ...all, ran: all.ran.toSorted() }, all.output).toMatchObject({ code: 0, ran: FILES });
  });

  it('is green if the repository mutes all that failed, and red beside another failure', { timeout: 240_000 }, async () => {
    const server = await startServer();
    const project = new RunnerProject(runner);
    const [a, b] = FILES as [string, string];
    mkdirSync(join(project.folder, '.ballast'));
    const mute = (...names: string[]) =>
      project.write('.ballast/muted', names.map(each => `${each} until=2999-12-31 owner=@web reason=issue 4711\n`).join(''));
    const run = async (commit: string) => {
      const { code, output } = await project.run(server, 1, 1, commit);
      const { json } = await complete(server, commit, 1);
      return { code, output, muted: (json.muted ?? []).map(({ path }: { path: string }) => path) };
    };
    project.writeTest(a, `throw new Error('of a');`);
    mute(`${a}::one`);
    expect(await run('muted-case')).toMatchObject({
      code: 0,
      output: expect.stringContaining(`1 muted failure: ${a} (.ballast/muted:1, until 2999-12-31, @web: issue 4711)`) as string,
      muted: [a],
    });
    project.writeTest(b, `throw new Error('of b');`);
    expect(await run('beside')).toMatchObject({ code: 1, muted: [a] });
    mute(a, b);
    expect(await run('muted-files')).toMatchObject({ code: 0, muted: [a, b] });
    mute(`${a}::two`, b);
    expect(await run('other-case')).toMatchObject({ code: 1, muted: [b] });
    project.write('.ballast/muted', `${a} until=2025-01-31 owner=@web reason=r\n`);
    const expired = await project.run(server, 1, 1, 'expired');
    expect([expired.code, expired.ran]).toEqual([1, []]);
    expect(expired.output).toContain(`.ballast/muted:1: "${a}" expired: `);
  });

  it('is red when tests fail, when a file cannot be loaded, and when the times cannot be recorded', { timeout: 240_000 }, async () => {
    const [server, project] = [await startServer(), new RunnerProject(runner)];
    project.writeTest(FILES[0]!, `throw new Error('expected');`);
    const red = await project.run(server, 1, 1, 'c1');
    expect(red.code, red.output).not.toBe(0);
    expect((await complete(server, 'c1', 1)).json).toMatchObject({ is_complete: true, recorded: 2 });
    project.write(FILES[0]!, name === 'jest' ? `require('./none.js');` : `import './none.js';`);
    const broken = await project.run(server, 1, 1, 'c2');
    expect(broken.code, broken.output).not.toBe(0);
    expect((await complete(server, 'c2', 1)).json).toMatchObject({ is_complete: false });
    project.writeTest(FILES[0]!);
    const unrecorded = await project.run({ url: await withoutRecordings(server), token: server.token }, 1, 1, 'c3');
    expect({ ...unrecorded, ran: unrecorded.ran.toSorted() }, unrecorded.output).toMatchObject({ code: 1, ran: FILES });
    expect(unrecorded.output).toContain('; the times of 2 test files are not recorded. Run this node again when the server answers');
  });
});

/** Files by their names, with which a runner fails although no test does, and arguments. */
const UNEXPLAINED: readonly [keyof typeof runners & string, string, Readonly<Record<string, string>>, string[]?][] = [
  [
    'vitest',
    'an unhandled error',
    { 'test/a.test.js': `import { test } from 'vitest'; test('one', () => void Promise.reject(new Error('expected')));` },
  ],
  [
    'playwright',
    'its global teardown',
    {
      'teardown.cjs': `module.exports = () => { throw new Error('expected'); };`,
      'playwright.config.ts': `export default { reporter: './ballast-playwright.mjs', testMatch: /test\\.js/, globalTeardown: './teardown.cjs' };`,
    },
  ],
  ['jest', 'a threshold of coverage', {}, ['--coverage', '--coverageThreshold={"global":{"lines":100}}', '--collectCoverageFrom=lib.js']],
];

it.each(UNEXPLAINED)('records no file as passed if %s fails by %s', { timeout: 120_000 }, async (name, _, files, args = []) => {
  const runner = runners[name]!;
  const [server, project] = [await startServer(), new RunnerProject({ ...runner, command: [...runner.command, ...args] })];
  project.write('lib.js', 'exports.unused = () => 1;');
  for (const [path, content] of Object.entries(files)) project.write(path, content);
  const red = await project.run(server, 1, 1, 'c1');
  expect(red.code, red.output).toBe(1);
  const build = await server.store.builds.find(1, { commit_hash: 'c1', branch: 'main', node_total: 1 });
  const [head] = await server.store.builds.runs(build!.number);
  const { outcomes } = (await server.store.builds.run(build!.number, head!))!;
  expect([...outcomes].map(outcomeOf), red.output).toEqual(['failed', 'failed']);
});

it.each(UNEXPLAINED)('is red beside a muted failure if %s fails by %s', { timeout: 120_000 }, async (name, _, files, args = []) => {
  const runner = runners[name]!;
  const [server, project] = [await startServer(), new RunnerProject({ ...runner, command: [...runner.command, ...args] })];
  project.write('lib.js', 'exports.unused = () => 1;');
  project.writeTest(FILES[1]!, `throw new Error('of b');`);
  for (const [path, content] of Object.entries(files)) project.write(path, content);
  mkdirSync(join(project.folder, '.ballast'));
  project.write('.ballast/muted', FILES.map(path => `${path} until=2999-12-31 owner=@web reason=r\n`).join(''));
  const red = await project.run(server, 1, 1, 'c1');
  expect(red.code, red.output).toBe(1);
  const { json } = await complete(server, 'c1', 1);
  expect(json.muted, red.output).toBeUndefined();
});

const VITEST_EXIT = `import ballast from './ballast-vitest.mjs';
  const reporters = [{ onTestModuleEnd: () => process.exit(0) }];
  export default { plugins: [ballast()], test: { include: ['test/*.test.js'], reporters } };`;

/** Files by their names, with which a runner ends with 0 before its end, and arguments. */
const EARLY_ENDS: readonly [keyof typeof runners & string, string, Readonly<Record<string, string>>, string[]?][] = [
  ['jest', 'a test', { 'test/a.test.js': `test('one', () => process.exit(0));` }],
  ['jest', 'a test, by process.reallyExit', { 'test/a.test.js': `test('one', () => process.reallyExit(0));` }],
  ['jest', 'a test, with a list that is not wanted', { 'test/a.test.js': `test('one', () => process.exit(0));` }, ['--listTests', 'false']],
  ['jest', 'the global setup', { 'package.json': jestWith('globalSetup'), 'exit.cjs': 'module.exports = () => process.exit(0);' }],
  ['vitest', 'a reporter', { 'vitest.config.ts': VITEST_EXIT }],
  ['vitest', 'a reporter, by process.reallyExit', { 'vitest.config.ts': VITEST_EXIT.replace('exit(0)', 'reallyExit(0)') }],
  ['vitest', 'a reporter while a file is named list', { 'vitest.config.ts': VITEST_EXIT, 'test/list.test.js': '' }, ['list', 'test']],
  [
    'vitest',
    'a reporter behind a listener that exits',
    { 'vitest.config.ts': VITEST_EXIT.replace('export', `process.once('exit', () => process.exit());\nexport`) },
  ],
  ['playwright', 'the top of a file, by process.reallyExit', { 'test/a.test.js': 'process.reallyExit(0);' }],
  ['playwright', 'the top of a file', { 'test/a.test.js': 'process.exit(0);' }],
  [
    'playwright',
    'the global teardown, with a shard in the configuration',
    {
      'exit.cjs': 'module.exports = () => process.exit(0);',
      'playwright.config.ts': `export default { reporter: './ballast-playwright.mjs', testMatch: /test\\.js/,
        globalTeardown: './exit.cjs', shard: { current: 1, total: 1 } };`,
    },
  ],
];

function jestWith(hook: string): string {
  const { jest } = JSON.parse(runners.jest!.config['package.json']!) as { jest: object };
  return JSON.stringify({ jest: { ...jest, [hook]: './exit.cjs' } });
}

it.each(EARLY_ENDS)('is red when %s ends with 0 before its end, by %s', { timeout: 120_000 }, async (name, _, files, args = []) => {
  const runner = runners[name]!;
  const [server, project] = [await startServer(), new RunnerProject({ ...runner, command: [...runner.command, ...args] })];
  for (const [path, content] of Object.entries(files)) project.write(path, content);
  const early = await project.run(server, files['playwright.config.ts'] ? null : 1, 1, 'c1');
  expect(early.code, early.output).toBe(1);
  expect(early.output).toContain('ended with exit code 0 before it reported its results, as if a test called process.exit');
  expect((await complete(server, 'c1', 1)).json).toMatchObject({ is_complete: false, recorded: 0 });
});

it('is red when the configuration of Vitest ends with 0', { timeout: 120_000 }, async () => {
  const [server, project] = [await startServer(), new RunnerProject(runners.vitest!)];
  project.write('vitest.config.ts', VITEST_EXIT.replace('export', 'process.exit(0);\nexport'));
  const early = await project.run(server, 1, 1, 'c1');
  expect(early, early.output).toMatchObject({ code: 1, ran: [] });
  expect(early.output).toContain('found no test file, has another sequencer, or its configuration ended it');
});

it.each<[keyof typeof runners & string, ...string[]]>([
  ['jest', '--listTests'],
  ['jest', '--list-tests'],
  ['jest', '--listTests=true'],
  ['jest', '--listTests', 'true'],
  ['vitest', 'list'],
  ['vitest', 'list', '--filesOnly'],
  ['playwright', '--list'],
])('is green when %s only lists what it would run, with %s', { timeout: 120_000 }, async (name, ...args) => {
  const [server, runner] = [await startServer(), runners[name]!];
  const command = name === 'vitest' ? [runner.command[0]!, ...args] : [...runner.command, ...args];
  const listed = await new RunnerProject({ ...runner, command }).run(server, 1, 1, 'c1');
  expect(listed, listed.output).toMatchObject({ code: 0, ran: [] });
  expect(listed.output).toContain('a.test.js');
});

it('says once that there is no --shard, whatever extends the configuration of Vitest', { timeout: 120_000 }, async () => {
  const project = new RunnerProject(runners.vitest!);
  const { 'vitest.config.ts': config } = runners.vitest!.config;
  project.write('vitest.config.ts', config!.replaceAll('{ test: { name', '{ extends: true, test: { name'));
  const { code, output } = await project.run(null, null, 1, 'c1');
  expect({ code, said: output.match(/without --shard/g)?.length }).toEqual({ code: 0, said: 1 });
});

/** How each runner ends at a signal: its exit code, or the signal that ended it. */
const ENDS: Readonly<Record<string, (signal: NodeJS.Signals) => object>> = {
  jest: signal => ({ code: null, signal }),
  vitest: signal => (signal === 'SIGHUP' ? { code: null, signal } : { code: signalExitCode(signal), signal: null }),
  playwright: () => ({ code: 1, signal: null }),
};

it.each(
  Object.keys(runners).flatMap(name =>
    END_SIGNALS.flatMap(signal => ['process', 'process group'].map(target => [name, signal, target] as const)),
  ),
)('records the files that %s ran before %s ended its %s', { timeout: 120_000 }, async (name, signal, target) => {
  const [server, project] = [await startServer(), new RunnerProject(runners[name]!)];
  const seconds = Object.fromEntries(FILES.map((path, i) => [path, [40, 1][i]!]));
  await record(server, { commit_hash: 'before', branch: 'main', node_total: 1, test_files: timedTestFiles(seconds) });
  if (name === 'playwright')
    project.write('playwright.config.ts', `export default { reporter: './ballast-playwright.mjs', testMatch: /test\\.js/ };`);
  // Jest runs its tests itself.
  const pid = name === 'jest' ? 'process.pid' : 'process.ppid';
  const send = `process.kill(${target === 'process' ? '' : '-'}${pid}, '${signal}');`;
  project.write(
    FILES[1]!,
    `${project.runner.imports}\ntest('one', async () => { ${send} await new Promise(done => setTimeout(done, 90_000)); });`,
  );
  const run = await project.run(server, 1, 1, 'c1', {}, true);
  expect(run, run.output).toMatchObject(ENDS[name]!(signal));
  expect(run.output).toContain('1 of 2 test files of this node did not run to the end: test/b.test.js');
  expect((await complete(server, 'c1', 1)).json).toMatchObject({ is_complete: false, recorded: 1 });
});

it('records the files that Jest ran before --bail ended it', { timeout: 120_000 }, async () => {
  const jest = runners.jest!;
  const [server, project] = [await startServer(), new RunnerProject({ ...jest, command: [...jest.command, '--bail'] })];
  const seconds = Object.fromEntries(FILES.map((path, i) => [path, [40, 1][i]!]));
  await record(server, { commit_hash: 'before', branch: 'main', node_total: 1, test_files: timedTestFiles(seconds) });
  project.writeTest(FILES[0]!, `throw new Error('expected');`);
  const red = await project.run(server, 1, 1, 'c1');
  expect(red, red.output).toMatchObject({ code: 1, ran: [FILES[0]] });
  expect(red.output).toContain('1 of 2 test files of this node did not run to the end: test/b.test.js');
  expect((await complete(server, 'c1', 1)).json).toMatchObject({ is_complete: false, recorded: 1 });
});

it('the reporter of node:test names the file that ran, whoever registers its tests', { timeout: 120_000 }, async () => {
  const [server, folder] = [await startServer(), realpathSync(temporaryFolder())];
  const write = (path: string, content: string) => writeFileSync(join(folder, path), content);
  mkdirSync(join(folder, 'test'));
  copyFileSync(built('ballast-node-test.mjs'), join(folder, 'ballast-node-test.mjs'));
  write('shared.mjs', `import test from 'node:test';\nexport const shared = fault => test('one', () => { if (fault) throw fault; });\n`);
  const helped = (fault = '') => `import { shared } from '../shared.mjs';\nshared(${fault});\n`;
  const own = `import test from 'node:test';\ntest('a "b" <c> \\u0007', () => {});\n`;
  for (const [name, content] of Object.entries({ helped: helped(), other: helped(), own, empty: '' }))
    write(`test/${name}.test.mjs`, content);
  const reporter = ['--test-reporter=./ballast-node-test.mjs', '--test-reporter-destination=node.xml'];
  const queue = (commit: string) =>
    runBallast(
      ['queue', 'test/*.test.mjs', '--junit', 'node.xml', '--fail-unreported', '--', process.execPath, '--test', ...reporter, '{}'],
      {
        ...{ BALLAST_URL: server.url, BALLAST_TOKEN: server.token, BALLAST_BUILD_ID: '7', BALLAST_BRANCH: 'main', NO_COLOR: '1' },
        ...{ BALLAST_COMMIT_HASH: commit, BALLAST_NODE_INDEX: '0', BALLAST_NODE_TOTAL: '1' },
      },
      { cwd: folder },
    );
  const green = await queue('c1');
  expect(green.code, green.stderr).toBe(0);
  const build = { commit_hash: 'c1', branch: 'main', node_total: 1, node_build_id: '7' };
  await expectCompleteness(server, build, 200, { is_complete: true, recorded: 4, recorded_without_time: [] });

  write('test/helped.test.mjs', helped('new Error("expected")'));
  write('test/broken.test.mjs', `import './none.mjs';\n`);
  const red = await queue('c2');
  expect(red.code, red.stderr).toBe(1);
  expect(red.stderr).toMatch(/\nballast: failed: test\/broken\.test\.mjs, test\/helped\.test\.mjs\n/);
});
