import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Client } from '../harness/client.js';
import { ended } from '../harness/process.js';
import { SharedServer } from '../harness/server.js';
import { TestProject } from './test-project.js';

const shared = new SharedServer();

const FILES = ['test/a.test.js', 'test/b b.test.js', 'test/c.test.js'];
const [A, B, C] = FILES as [string, string, string];
const GLOB = 'test/*.test.js';
const REPORT = { REPORT: 'reports/%.xml' };
const END = 'until=2999-12-31 owner=@web reason=issue 4711';
const ONE_NODE = { BALLAST_NODE_TOTAL: '1' };

/** A project whose repository has these muted failures. */
function projectWith(...mutes: string[]) {
  const suite = new TestProject(FILES);
  mkdirSync(join(suite.folder, '.ballast'));
  const mute = (...lines: string[]) => writeFileSync(join(suite.folder, '.ballast/muted'), lines.join('\r\n'));
  mute(...mutes);
  const run = (server: Client, args: readonly string[], more: NodeJS.ProcessEnv = {}) =>
    suite.run(server, 0, args, { ...ONE_NODE, ...REPORT, ...more });
  const queue = (server: Client, more: NodeJS.ProcessEnv = {}) =>
    run(server, ['queue', GLOB, '--junit', 'reports/*.xml', ...suite.runner], more);
  return { suite, mute, run, queue };
}

describe('a muted failure', () => {
  it('runs, is recorded and shown, and leaves the nodes and the gate green', async () => {
    const server = await shared.project();
    const { suite, run, queue } = projectWith('# reviewed', `${A} ${END}`, `${B}::one ${END}`);
    expect(await queue(server, { FAILING: `${A},${B}` })).toMatchObject(
      ended(0, /\nballast: 2 muted failures: .*test\/a\.test\.js \(\.ballast\/muted:2, until 2999-12-31, @web: issue 4711\).*\n$/),
    );
    expect(suite.ran).toHaveLength(3);
    const verified = await run(server, ['verify']);
    expect(verified).toEqual({
      code: 0,
      stderr: '',
      stdout: `complete: 3 of 3 test files of the queue were recorded, green with 2 muted failures: ${A}, ${B}\n`,
    });
    const github = await run(server, ['verify', '--format', 'github']);
    expect(github.stdout).toContain(`::warning file=${A},title=Muted failure::${A} (failed on node 0)\n`);
    const junit = await run(server, ['verify', '--format', 'junit']);
    expect(junit.stdout).toContain('tests="3" failures="0" skipped="2">');
    expect(junit.stdout).toContain(`name="${B}"><skipped message="muted failure (node 0)"/>`);
    expect(JSON.parse((await run(server, ['verify', '--json'])).stdout)).toMatchObject({ muted_count: 2 });
    const { stdout } = await run(server, ['summary']);
    expect(stdout).toContain('green with 2 muted failures.');
    expect(stdout).toContain(`**Muted failures**: 2 test files\n\n- \`${A}\`\n- \`${B}\`\n`);
    expect(stdout).toContain('(muted)');
    const [build] = (await server.get('/v1/builds')).json.data;
    expect((await server.get(`/v1/builds/${build.id}/minutes`)).json).toMatchObject({ state: 'complete', failed_count: 2 });
  });

  it('does not hide another one, and is run again with it', async () => {
    const server = await shared.project();
    const { suite, queue, run } = projectWith(`${A} ${END}`);
    const red = await queue(server, { FAILING: `${A},${C}` });
    expect(red).toMatchObject(ended(1, /\nballast: failed: test\/c\.test\.js\nballast: 1 muted failure: test\/a\.test\.js \(.*\)\n$/));
    expect(await queue(server, { FAILING: A })).toMatchObject({ code: 0 });
    expect([...suite.ran].sort()).toEqual([A, A, B, C, C]);
    expect((await run(server, ['verify'])).stdout).toContain(`, green with 1 muted failure: ${A}\n`);
    expect(await queue(server)).toMatchObject({ code: 0 });
    expect((await run(server, ['verify'])).stdout).toBe('complete: 3 of 3 test files of the queue were recorded\n');
  });

  it('of a run without reports counts if all files of the command are muted', async () => {
    const server = await shared.project();
    const { suite, run } = projectWith(...FILES.map(path => `${path} ${END}`));
    const queue = () => run(server, ['queue', GLOB, ...suite.runner], { FAILING: A, REPORT: '' });
    expect(await queue()).toMatchObject({ code: 0 });
    expect(await run(server, ['verify'])).toMatchObject({ code: 0 });
  });

  it('is limited in number by verify', async () => {
    const server = await shared.project();
    const { mute, run, queue } = projectWith(`${A} ${END}`, `${B} ${END}`);
    await queue(server, { FAILING: `${A},${B}` });
    expect(await run(server, ['verify', '--max-muted', '2'])).toMatchObject({ code: 0, stderr: '' });
    expect(await run(server, ['verify', '--max-muted', '1'])).toMatchObject({
      code: 1,
      stderr: 'ballast: this CI run has 2 muted failures, and --max-muted is 1: fix tests, and remove their lines\n',
    });
    mute(...FILES.map(path => `${path} ${END}`));
    const asked = ['verify', '--max-muted', '2', '--format'];
    expect((await run(server, [...asked, 'github'])).stdout).toContain(
      '\n::error title=Too many muted failures::.ballast/muted has 3 muted failures, and --max-muted is 2: ',
    );
    expect(await run(server, [...asked, 'junit'])).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('name="the number of muted failures"><failure message=".ballast/muted has 3') as string,
    });
  });

  it('that is expired or malformed fails before any test runs, and in the gate', async () => {
    const server = await shared.project();
    const { suite, run, queue } = projectWith(`${A} ${END}`, `${B} until=2025-01-31 owner=@web reason=r`, `${C} until=2999-12-31`);
    const stderr = expect.stringMatching(
      /^ballast: \.ballast\/muted:2: "test\/b b\.test\.js" expired: .*\nballast: \.ballast\/muted:3: "test\/c\.test\.js" has no owner: .*\n$/,
    ) as string;
    expect(await queue(server)).toMatchObject({ code: 2, stderr });
    expect(suite.ran).toEqual([]);
    expect(await run(server, ['verify'])).toMatchObject({ code: 2, stderr });
    const doctor = await run(server, ['doctor', GLOB]);
    expect(doctor.stdout).toContain('Muted failures\n  error    .ballast/muted:2: "test/b b.test.js" expired');
  });

  it('is named by doctor if it ends soon or names no listed file', async () => {
    const server = await shared.project();
    const soon = new Date(Date.now() + 3 * 86_400_000).toISOString().slice(0, 10);
    const { run } = projectWith(`${A} until=${soon} owner=@web reason=r`, `./${B} ${END}`, `test/ ${END}`, `${C} ${END}`);
    const { stdout } = await run(server, ['doctor', GLOB]);
    expect(stdout).toContain('.ballast/muted mutes 4 failures\n');
    expect(stdout).toContain(`  warning  1 mute ends within 7 days: .ballast/muted:1 ${A}, until ${soon}, @web\n`);
    expect(stdout).toContain(
      `  warning  2 mutes name no listed test file: .ballast/muted:2 ./${B}, until 2999-12-31, @web, .ballast/muted:3 test/`,
    );
  });
});

describe('record with muted failures', () => {
  const record = async (mutes: string[], failing: string[], exitCode: number, files = FILES) => {
    const server = await shared.project();
    const { suite, run } = projectWith(...mutes);
    const cases = FILES.map(
      file => `<testcase name="one" file="${file}" time="2">${failing.includes(file) ? '<failure/>' : ''}</testcase>`,
    );
    writeFileSync(join(suite.folder, 'r.xml'), `<testsuites><testsuite>${cases.join('')}</testsuite></testsuites>`);
    writeFileSync(join(suite.folder, 'list'), files.join('\n'));
    const list = files.length > 0 ? ['--files-from', 'list'] : [];
    return run(server, ['record', 'r.xml', ...list, '--exit-code', String(exitCode), '--json']);
  };

  it.each<[string[], string[], number, number, string[]?]>([
    [[A], [A], 1, 0],
    [[A], [A], 0, 0],
    [[`${A}::one`, B], [A, B], 1, 0],
    [[A], [A, B], 1, 1],
    [[], [A], 1, 1],
    [[A], [], 1, 1],
    [[A], [A], 137, 1],
    [[A], [A], 1, 1, [...FILES, 'test/d.test.js']],
    [[A], [A], 1, 1, []],
  ])('of %j, of which failed %j, with the exit code %i ends with %i', async (muted, failing, exitCode, code, files) => {
    const run = await record(
      muted.map(name => `${name} ${END}`),
      failing,
      exitCode,
      files,
    );
    expect(run.code).toBe(code);
    const { test_files } = JSON.parse(run.stdout);
    if (code === 0) expect(test_files.filter((file: any) => file.outcome === 'muted').map((file: any) => file.path)).toEqual(failing);
  });
});
