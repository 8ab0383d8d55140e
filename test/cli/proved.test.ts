import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Statement } from '../../src/protocol/receipt.js';
import { ended, runBallast, said } from '../harness/process.js';
import { startServerOnDisk, type TestServer } from '../harness/server.js';
import { TestProject } from './test-project.js';

const FILES = ['test/a.sh', 'test/b.sh', 'test/c.sh'];
const GLOB = 'test/*.sh';
const KEYS = ['--proof-key', 'image=1'];

/** A repository of test files, of which a commit is checked out. */
function repository(): TestProject {
  const suite = new TestProject(FILES);
  writeFileSync(join(suite.folder, '.gitignore'), '*\n!test/*\n!*.md\n');
  git(suite, 'init', '-q', '-b', 'main', '.');
  commit(suite);
  return suite;
}

function git({ folder }: TestProject, ...args: string[]): void {
  const author = ['-c', 'user.name=a', '-c', 'user.email=a@b'];
  execFileSync('git', [...author, ...args], {
    cwd: folder,
    env: { ...process.env, GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_SYSTEM: '/dev/null' },
  });
}

function commit(suite: TestProject): void {
  git(suite, 'add', '-A');
  git(suite, 'commit', '-q', '--allow-empty', '-m', 'x');
}

const ask = (suite: TestProject, server: TestServer, flags: string[] = KEYS, more: Record<string, string> = {}) =>
  runBallast(['proved', GLOB, ...flags], suite.environment(server, 0, more), { cwd: suite.folder });

const NOTHING = said(1, 'not proved: no CI run of this tree is known');

describe('ballast proved', () => {
  it('finds the CI run of a branch in the tree that was merged, and none in a tree that differs', async () => {
    const [server, suite] = [await startServerOnDisk(), repository()];
    expect(await ask(suite, server)).toEqual(NOTHING);
    git(suite, 'checkout', '-q', '-b', 'fix');
    writeFileSync(join(suite.folder, 'notes.md'), 'x');
    commit(suite);
    const nodes = [0, 1].map(node => suite.run(server, node, ['queue', GLOB, ...KEYS, ...suite.runner]));
    expect((await Promise.all(nodes)).map(({ code }) => code)).toEqual([0, 0]);
    git(suite, 'checkout', '-q', 'main');
    expect(await ask(suite, server)).toEqual(NOTHING);
    git(suite, 'merge', '-q', '--no-ff', '-m', 'merge', 'fix');
    const proved = await ask(suite, server);
    expect({ code: proved.code, stdout: proved.stdout }).toEqual({
      code: 0,
      stdout: expect.stringMatching(
        /^proved: 3 test files passed on [12] nodes? in .+ m?s of node time\nCI run 7 of main, commit c1, began .+ ago: http.*\n$/,
      ) as string,
    });
    expect(await ask(suite, server, ['--proof-key', 'image=2'])).toMatchObject(
      ended(1, /^ballast: not proved: node \d ran with another key \(it lacks image=2\)\nballast: CI run 7 of main, /),
    );
    writeFileSync(join(suite.folder, 'notes.md'), 'y');
    expect(await ask(suite, server)).toEqual(said(1, 'not proved: these files may differ from the tree: notes.md is changed'));
    commit(suite);
    expect(await ask(suite, server)).toEqual(NOTHING);
  });

  it('names the CI run that asks, which is counted once, and none outside of one', async () => {
    const [server, suite] = [await startServerOnDisk(), repository()];
    await suite.run(server, 0, ['queue', GLOB, ...KEYS, ...suite.runner]);
    const spared = async () => {
      const [by] = await server.store.ciRuns.list(1, Infinity, 1);
      return (await server.store.ciRuns.spared(by!.id)).map(({ commit_hash, branch, ci_run }) => [commit_hash, branch, ci_run]);
    };
    for (const build of ['', '7', '8', '8']) {
      const environment = { BALLAST_BUILD_ID: build, BALLAST_COMMIT_HASH: build === '7' ? 'c1' : 'c2' };
      expect(await ask(suite, server, KEYS, environment)).toMatchObject({ code: 0 });
    }
    expect(await ask(suite, server, [...KEYS, '--build-id', '9', '--branch', 'fix'], { BALLAST_COMMIT_HASH: '' })).toMatchObject({
      code: 0,
    });
    const head = execFileSync('git', ['rev-parse', 'HEAD'], { cwd: suite.folder, encoding: 'utf8' }).trim();
    expect((await spared()).sort()).toEqual(
      [
        ['c2', 'main', '8'],
        [head, 'fix', '9'],
      ].sort(),
    );
  });

  it('is a tool of language models, too', async () => {
    const [server, suite] = [await startServerOnDisk(), repository()];
    const told = async (input: object) => {
      const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'proved', arguments: input } };
      const run = await runBallast(['mcp'], suite.environment(server, 0), { cwd: suite.folder, stdin: JSON.stringify(message) });
      const { isError, content } = JSON.parse(run.stdout).result;
      return isError ? content[0].text : JSON.parse(content[0].text);
    };
    await suite.run(server, 0, ['queue', GLOB, ...KEYS, ...suite.runner]);
    expect(await told({ globs: [GLOB], proof_keys: ['image=1'] })).toMatchObject({ is_proved: true, ci_run: { ci_run: '7' } });
    expect(await told({ globs: GLOB })).toMatchObject({ is_proved: false, reason: 'node 0 ran with another key' });
    expect(await told({ globs: ['none/*'] })).toMatch(/^nothing matches none\/\* in /);
    writeFileSync(join(suite.folder, 'notes.md'), 'x');
    expect(await told({ globs: [GLOB] })).toMatchObject({ is_proved: false, reason: /notes.md/ });
  });

  it('writes an output and a summary for GitHub Actions, whatever the answer', async () => {
    const [server, suite] = [await startServerOnDisk(), repository()];
    const [output, summary] = ['output', 'summary'].map(name => join(suite.folder, name));
    const github = { GITHUB_OUTPUT: output!, GITHUB_STEP_SUMMARY: summary! };
    expect(await ask(suite, server, ['--format', 'github'], github)).toMatchObject({ code: 1, stdout: '' });
    await suite.run(server, 0, ['queue', GLOB, ...suite.runner]);
    expect(await ask(suite, server, ['--format', 'github'], github)).toMatchObject({ code: 0 });
    await server.close();
    expect(await ask(suite, server, ['--format', 'github', '--retries', '0'], github)).toMatchObject({ code: 3 });
    expect(readFileSync(output!, 'utf8')).toBe('proved=false\nproved=true\nproved=false\n');
    expect(readFileSync(summary!, 'utf8')).toMatch(
      /^not proved: no CI run of this tree is known\nproved: 3 test files passed on 1 node in .+ m?s of node time\n\n\[CI run 7 of main, .+\]\(<http.+>\)\ncannot tell whether it is proved: no answer/,
    );
  });

  it('has no answer without a repository, and refuses an age that is none', async () => {
    const [server, suite] = [await startServerOnDisk(), new TestProject(FILES)];
    expect(await ask(suite, server)).toMatchObject(ended(1, /^ballast: not proved: the tree is not known: not a git repository/));
    for (const age of ['400d', '0', '0.4s'])
      expect(await ask(suite, server, ['--max-age', age])).toMatchObject(ended(2, /It must be from 1s to 365d\./));
    expect(await ask(suite, server, ['--proof-key', ''])).toMatchObject(ended(2, /a proof key is empty/));
  });
});

it('a split is proved whose nodes record with the exit code of their runner', async () => {
  const [server, suite] = [await startServerOnDisk(), repository()];
  for (const node of [0, 1]) {
    const run = (args: string[], stdin = '') => suite.run(server, node, args, {}, stdin);
    const { stdout } = await run(['split', GLOB, ...KEYS]);
    const cases = stdout
      .split('\n')
      .slice(0, -1)
      .map(file => `<testcase name='one' file='${file}' time='1'/>`);
    const report = `report-${node}.xml`;
    writeFileSync(join(suite.folder, report), `<testsuites><testsuite>${cases.join('')}</testsuite></testsuites>`);
    expect((await run(['record', report, '--exit-code', '0', '--files-from', '-'], stdout)).code).toBe(0);
  }
  expect(await ask(suite, server)).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^proved: 3 test files passed on 2 nodes/) as string,
  });
});

describe('ballast queue --proved', () => {
  it('runs what failed in another CI run of the tree, and leaves out the rest, which the gate counts as proved', async () => {
    const [server, suite] = [await startServerOnDisk(), repository()];
    const queue = (id: string, flags: string[], more: Record<string, string> = {}) =>
      suite.run(server, 0, ['queue', GLOB, ...KEYS, ...flags, '--junit', 'reports/*.xml', ...suite.runner], {
        BALLAST_BUILD_ID: id,
        REPORT: 'reports/%.xml',
        ...more,
      });
    expect((await queue('7', ['--proved'], { FAILING: FILES[1]! })).code).toBe(1);
    const before = suite.ran.length;
    const again = await queue('8', ['--proved']);
    expect([again.code, suite.ran.slice(before)]).toEqual([0, [FILES[1]]]);
    expect(again.stderr).toContain('ballast: 2 test files passed in this tree before, and are left out (CI run 7)\n');
    const verified = await suite.run(server, 0, ['verify'], { BALLAST_BUILD_ID: '8' });
    expect([verified.code, verified.stdout.split('\n')[0]]).toEqual([
      0,
      'complete: 1 of 1 test file of the queue was recorded, 2 were proved by CI run 7',
    ]);
    const third = await queue('9', ['--proved', '--max-age', '1h']);
    expect([third.code, suite.ran.length]).toEqual([0, before + 1]);
    expect(third.stderr).toContain('ballast: 3 test files passed in this tree before, and are left out (CI runs 8, 7)\n');
    expect(third.stderr).toContain('(to run all again, omit --proved, and give another --build-id)\n');
    expect((await suite.run(server, 0, ['verify'], { BALLAST_BUILD_ID: '9' })).stdout).toMatch(
      /^complete: 0 of 0 test files of the queue were recorded, 3 were proved by CI runs 8, 7\n/,
    );
    expect(await ask(suite, server)).toMatchObject({ code: 0 });
  });

  it('runs all files and says why if they may differ from the tree', async () => {
    const [server, suite] = [await startServerOnDisk(), repository()];
    await suite.run(server, 0, ['queue', GLOB, ...suite.runner]);
    writeFileSync(join(suite.folder, 'notes.md'), 'x');
    const again = await suite.run(server, 0, ['queue', GLOB, '--proved', ...suite.runner], { BALLAST_BUILD_ID: '8' });
    expect([again.code, suite.ran.length]).toEqual([0, 6]);
    expect(again.stderr).toContain('--proved leaves out nothing, because the files may differ from a tree: notes.md is not committed\n');
    expect(await suite.run(server, 0, ['queue', GLOB, '--max-age', '1d', ...suite.runner])).toMatchObject(
      ended(2, /--max-age is for --proved/),
    );
  });
});

describe('ballast receipt', () => {
  it('is of the CI run of this job, and is checked with the keys of the server', async () => {
    const [server, suite] = [await startServerOnDisk(), repository()];
    const run = (...args: string[]) => runBallast(['receipt', ...args], suite.environment(server, 0), { cwd: suite.folder });
    expect(await run()).toMatchObject(ended(1, /^ballast: no receipt: the server does not know the CI run/));
    for (const node of [0, 1]) await suite.run(server, node, ['queue', GLOB, ...suite.runner]);
    expect(await run('--output', 'receipt.json')).toEqual({ code: 0, stdout: '', stderr: '' });
    writeFileSync(join(suite.folder, 'public.pem'), (await run('key')).stdout);
    const verify = ['verify', 'receipt.json', '--public-key', 'public.pem'];
    const checked = await run(...verify);
    expect(checked).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('test files: 3 passed, 0 passed only when repeated, 0 failed') as string,
    });
    const { predicate } = JSON.parse((await run(...verify, '--json')).stdout) as Statement;
    const sum = execFileSync('sh', ['-c', "printf '%s\\0' sh runner.sh {} | sha256sum"], { encoding: 'utf8' });
    expect(predicate.configuration.at(-1)).toEqual({ name: 'command', digest: { sha256: sum.slice(0, 64) } });
  });
});
