import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, mkdirSync, openSync, realpathSync, writeFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { record, sortPaths, startSplit } from '../harness/messages.js';
import { ended, plainEnvironment, said } from '../harness/process.js';
import { SharedServer } from '../harness/server.js';
import { MAIN } from '../testbed/server.js';
import { BUILD, TestProject, unreachableServer } from './test-project.js';

const shared = new SharedServer();

const FILES = ['test/a.test.js', 'test/b.test.js', 'test/deep/c.test.js', 'test/slow/d.test.js'];
const lines = (stdout: string) => stdout.split('\n').slice(0, -1);

describe('names of test files that are not UTF-8', () => {
  const bytes = (text: string) => Buffer.from(text, 'latin1');

  it('are refused by their bytes, in globs, arguments and lists, unless they are left out', async () => {
    const [server, suite] = [await shared.project(), new TestProject(['test/ok.test.js', 'test/\ufffd.test.js'])];
    const inFolder = (name: string) => Buffer.concat([Buffer.from(`${suite.folder}/test/`), bytes(name)]);
    mkdirSync(inFolder('d\xff'));
    for (const name of ['a\xff.test.js', 'a\xfe.test.js', 'd\xff/b.test.js']) writeFileSync(inFolder(name), '');
    const split = (...args: string[]) => suite.run(server, 0, ['split', ...args]);
    const refused = (names: string) => said(2, `the names of these test files are not UTF-8: ${names}; rename them, or leave them out`);
    const folder = `${suite.folder}/test`;
    expect(await split('test/*.test.js')).toEqual(refused(`${folder}/a\\xfe.test.js, ${folder}/a\\xff.test.js`));
    expect(await split('test/ok.test.js', 'test/d*/**')).toEqual(refused(`${folder}/d\\xff/b.test.js`));
    expect(await split('test/ok.test.js', 'test/a\ufffd.test.js')).toMatchObject({ code: 2 });
    const list = Buffer.concat([Buffer.from('test/ok.test.js\n'), bytes('a\xff.test.js\n')]);
    writeFileSync(`${suite.folder}/list.txt`, list);
    writeFileSync(`${suite.folder}/report.xml`, '<testsuites/>');
    expect(await suite.run(server, 0, ['record', 'report.xml', '--files-from', 'list.txt'])).toEqual(refused('a\\xff.test.js'));
    expect(await suite.run(server, 0, ['split', '-'], {}, list)).toEqual(refused('a\\xff.test.js'));
    const { code, stdout } = await suite.run({ ...unreachableServer }, 0, ['split', 'test/**', '!test/a*', '!test/d*/**', '--fallback']);
    // A name may have the sign itself.
    expect({ code, files: lines(stdout) }).toEqual({ code: 0, files: ['test/ok.test.js', 'test/\ufffd.test.js'] });
  });
});

describe('ballast split', () => {
  it('prints each file on one node, and the same files if it is repeated', async () => {
    const [server, suite] = [await shared.project(), new TestProject([...FILES, 'node_modules/x/e.test.js'])];
    const split = (node: number) => suite.run(server, node, ['split', '**/*.test.js']);
    const nodes = [await split(0), await split(1)];
    expect(nodes.map(({ code, stderr }) => ({ code, stderr }))).toEqual([0, 1].map(() => ({ code: 0, stderr: '' })));
    expect(sortPaths(nodes.flatMap(({ stdout }) => lines(stdout)))).toEqual(FILES);
    expect(await split(1)).toEqual(nodes[1]);
  });

  it('takes variables with spaces and line breaks around them as without', async () => {
    const [server, suite] = [await shared.project(), new TestProject(FILES)];
    const split = (more: NodeJS.ProcessEnv) => suite.run(server, 1, ['split', '**/*.test.js'], more);
    const plain = await split({});
    const names = ['NODE_INDEX', 'NODE_TOTAL', 'BUILD_ID', 'BRANCH', 'COMMIT_HASH', 'URL', 'TOKEN'].map(name => `BALLAST_${name}`);
    const values = suite.environment(server, 1);
    expect(plain.code).toBe(0);
    expect(await split(Object.fromEntries(names.map(name => [name, ` ${values[name]}\n`])))).toEqual(plain);
  });

  it('takes paths, globs and negated globs', async () => {
    const [server, suite] = [await shared.project(), new TestProject([...FILES, 'app/[id].test.js'])];
    const here = realpathSync(suite.folder);
    const all = await suite.run(server, 0, [
      'split',
      './app/[id].test.js',
      `${here}/test/a.test.js`,
      'test/**/*.test.js',
      '!test/slow/**',
      '--node-total',
      '1',
    ]);
    expect(sortPaths(lines(all.stdout))).toEqual(['app/[id].test.js', 'test/a.test.js', 'test/b.test.js', 'test/deep/c.test.js']);
  });

  it.each([
    ['lines', 'pkg/a\r\npkg/b c\n', ['--stdin']],
    ['a byte order mark', '\ufeffpkg/a\npkg/b c', ['--stdin']],
    ['NUL between them', 'pkg/a\0pkg/b c', ['-']],
  ])('takes a list of literal paths on stdin, with %s', async (_, stdin, args) => {
    const [server, suite] = [await shared.project(), new TestProject([])];
    const { stdout } = await suite.run(server, 0, ['split', ...args, '--node-total', '1'], {}, stdin);
    expect(sortPaths(lines(stdout))).toEqual(['pkg/a', 'pkg/b c']);
  });

  it('prints by a template, and with NUL after each path', async () => {
    const [server, suite] = [await shared.project(), new TestProject([])];
    await record(server, { test_files: [{ path: 'a.js', time_execution: 1.5 }] });
    const print = (...args: string[]) => suite.run(server, 0, ['split', '-', '--node-total', '1', ...args], {}, 'a.js\0b\n.js\0');
    expect((await print('-0', '--format', '--only={path} {seconds}')).stdout).toBe('--only=a.js 1.5\0--only=b\n.js \0');
    expect(JSON.parse((await print('--json')).stdout)).toEqual({
      test_files: [
        { path: 'a.js', time_execution: 1.5 },
        { path: 'b\n.js', time_execution: null },
      ],
    });
    expect(await print()).toMatchObject(said(2, 'the path "b\\n.js" has a line break: use --null, and read up to each NUL'));
  });

  it('prints nothing if the split was made from another list, and names both lists', async () => {
    const [server, suite] = [await shared.project(), new TestProject(FILES)];
    await startSplit(server, ['test/a.test.js', 'gone.test.js'], { ...BUILD, node_total: 1 });
    expect(await suite.run(server, 0, ['split', '**/[ab].test.js', '--node-total', '1'])).toEqual(
      ended(
        2,
        / made of 2 test files, and this node lists 2: "gone\.test\.js" only in the split, "test\/b\.test\.js" only on this node; .* --dynamic\)\n$/,
        '',
      ),
    );
  });

  it.skipIf(!existsSync('/dev/full'))('fails if its list cannot be written completely', async () => {
    const [server, suite] = [await shared.project(), new TestProject(FILES)];
    const out = openSync('/dev/full', 'w');
    const child = spawn(process.execPath, [MAIN, 'split', '**/*.test.js'], {
      cwd: suite.folder,
      env: plainEnvironment(suite.environment(server, 0)),
      stdio: ['ignore', out, 'pipe'],
    });
    const [stderr, [code]] = await Promise.all([text(child.stderr!), once(child, 'close')]);
    closeSync(out);
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringMatching(/^ballast: cannot write the output: ENOSPC/) as string });
  });

  it('prints nothing for a node that has nothing to run', async () => {
    const [server, suite] = [await shared.project(), new TestProject(FILES.slice(0, 1))];
    const nodes = await Promise.all([0, 1].map(node => suite.run(server, node, ['split', 'test/*.js'])));
    expect(sortPaths(nodes.map(({ stdout }) => stdout))).toEqual(['', 'test/a.test.js\n']);
    expect(nodes.map(({ code }) => code)).toEqual([0, 0]);
  });

  it('prints all files with a warning if there is no server, with --fallback', async () => {
    const suite = new TestProject(FILES);
    const { code, stdout, stderr } = await suite.run(unreachableServer, 1, ['split', '**/*.test.js', '--fallback']);
    expect({ code, files: lines(stdout) }).toEqual({ code: 0, files: FILES });
    expect(stderr).toMatch(
      /^ballast: WARNING: no answer from POST http:\/\/127\.0\.0\.1:1\/.*\nballast: WARNING: --fallback: this node runs all 4 test files, because it cannot know what other nodes run\./,
    );
  });

  it('ends with 3 if there is no server, or if it refuses', async () => {
    const [server, suite] = [await shared.project(), new TestProject(FILES)];
    expect(await suite.run(unreachableServer, 0, ['split', '**/*.test.js'])).toMatchObject(
      ended(3, /^ballast: no answer from .*; no test file is printed\. .*--fallback/, ''),
    );
    expect(await suite.run({ ...server, url: server.url, token: 'wrong' }, 0, ['split', '**/*.test.js'])).toMatchObject(
      said(
        3,
        `POST ${server.url}/v1/build_distributions/subset was refused with 403: invalid test suite token; check the token: it may be revoked, or belong to another server`,
      ),
    );
  });

  it('ends with 2 if there is nothing to split or the node is not known', async () => {
    const suite = new TestProject(FILES);
    expect(await suite.run(unreachableServer, 0, ['split', 'spec/**'])).toMatchObject(
      ended(2, /^ballast: no test files: nothing matches spec\/\*\* in /, ''),
    );
    expect(await suite.run(unreachableServer, 0, ['split', '**/*.test.js'], { BALLAST_NODE_INDEX: '' })).toMatchObject(
      ended(2, '--node-index <number>'),
    );
    expect(await suite.run(unreachableServer, 2, ['split', '**/*.test.js'])).toMatchObject(
      said(2, 'the index of this node is 2, but the last of 2 nodes has the index 1'),
    );
  });
});
