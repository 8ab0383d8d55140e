import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { expectCompleteness, recordPaths } from '../harness/completeness.js';
import { ended, runBallast } from '../harness/process.js';
import { startServerOnDisk, type TestServer } from '../harness/server.js';
import { BUILD, TestProject } from './test-project.js';

const FILES = Array.from({ length: 8 }, (_, i) => `test/${'x'.repeat(i + 1)}.test.js`);
const GLOB = 'test/*.test.js';
const RETRY = ['--retry-failed'];
const PASSES = [...RETRY, '--flaky-passes'];
const FLAKY = FILES[5]!;

const queue = (suite: TestProject, server: TestServer, node: number, flags: readonly string[], more: NodeJS.ProcessEnv = {}) =>
  runBallast(
    ['queue', GLOB, '--junit', `reports/${node}-*.xml`, ...flags, ...suite.runner],
    suite.environment(server, node, { REPORT: `reports/${node}-%.xml`, ...more }),
    { cwd: suite.folder },
  );

const verify = (suite: TestProject, server: TestServer, ...flags: string[]) =>
  runBallast(['verify', '--node-build-id', '7', ...flags], suite.environment(server, 0), { cwd: suite.folder });

describe('ballast queue --retry-failed', () => {
  it('runs a file that failed once more, and passes only with --flaky-passes; the gate names it', async () => {
    for (const flags of [PASSES, RETRY]) {
      const [server, suite] = [await startServerOnDisk(), new TestProject(FILES)];
      const nodes = await Promise.all([0, 1].map(node => queue(suite, server, node, flags, { FLAKY })));
      expect(suite.ran.filter(file => file === FLAKY)).toHaveLength(2);
      expect(suite.ran).toHaveLength(FILES.length + 1);
      const failed = nodes.filter(({ stderr }) => stderr.includes('flaky: '));
      expect(failed.map(({ code }) => code)).toEqual([flags === PASSES ? 0 : 1]);
      expect(nodes.filter(node => !failed.includes(node)).map(({ code }) => code)).toEqual([0]);
      expect(failed[0]!.stderr).toContain(
        `ballast: flaky: ${FLAKY} failed here, and passed when retried; ${flags === PASSES ? 'this does not fail the node (--flaky-passes)' : 'this fails the node all the same; --flaky-passes lets it pass'}\n`,
      );
      expect(nodes.map(({ stderr }) => stderr).join('')).toContain(`: retries ${FLAKY}, which failed\n`);
      await expectCompleteness(server, { ...BUILD, node_build_id: '7' }, 200, {
        errors: [],
        warnings: [],
        recorded: 8,
        flaky: [{ path: FLAKY, node_indexes: [nodes.indexOf(failed[0]!)], is_new: false }],
      });
      expect(await verify(suite, server)).toMatchObject({
        code: 0,
        stdout: expect.stringContaining(`1 failed and passed when retried (${FLAKY})`) as string,
      });
      const fate = `failed on node ${nodes.indexOf(failed[0]!)}, and passed when retried`;
      expect((await verify(suite, server, '--format', 'junit')).stdout).toContain(
        `name="${FLAKY}"><skipped message="flaky: ${fate}"/></testcase>`,
      );
      expect((await verify(suite, server, '--format', 'github')).stdout).toContain(
        `::warning file=${FLAKY},title=Flaky test file::${FLAKY} (${fate})\n`,
      );
    }
  });

  it('makes the gate fail with verify --fail-on-flaky new if the default branch never measured the file', async () => {
    const feature = ['--branch', 'feature'];
    for (const [before, flags] of [
      [FILES, PASSES] as const,
      [FILES.filter(file => file !== FLAKY), PASSES] as const,
      [['other'], RETRY] as const,
    ]) {
      const [server, suite] = [await startServerOnDisk(), new TestProject(FILES)];
      await recordPaths(server, 0, before);
      await queue(suite, server, 0, [...flags, ...feature], { FLAKY });
      const gate = (...more: string[]) => verify(suite, server, ...feature, ...more);
      expect(await gate()).toMatchObject({ code: 0, stderr: '' });
      const fate = 'failed on node 0, and passed when retried';
      if (before === FILES) {
        expect(await gate('--fail-on-flaky', 'new')).toMatchObject({ code: 0, stderr: '' });
        continue;
      }
      const why = `${FLAKY} (${fate}; it is new: no build of main, the default branch, measured it)`;
      expect(await gate('--fail-on-flaky', 'new')).toMatchObject({
        ...{ code: 1, stderr: `ballast: flaky: ${why}\n` },
        stdout: expect.stringContaining(
          `complete: 8 of 8 test files of the queue were recorded, 1 failed and passed when retried (${FLAKY})`,
        ) as string,
      });
      const junit = await gate('--fail-on-flaky', 'new', '--format', 'junit');
      expect(junit).toMatchObject({ code: 1, stderr: `ballast: flaky: ${why}\n` });
      expect(junit.stdout).toContain(
        `name="${FLAKY}"><failure message="flaky: ${fate}; it is new: no build of main, the default branch, measured it"/></testcase>`,
      );
      const github = await gate('--fail-on-flaky', 'new', '--format', 'github');
      expect(github).toMatchObject({ code: 1, stderr: '' });
      expect(github.stdout).toContain(`::error file=${FLAKY},title=New flaky test file::${why}\n`);
      const json = await gate('--fail-on-flaky', 'new', '--json');
      expect(json).toMatchObject({ code: 1, stderr: `ballast: flaky: ${why}\n` });
      expect(JSON.parse(json.stdout)).toMatchObject({ is_complete: true, flaky: [{ path: FLAKY, is_new: true }], default_branch: 'main' });
    }
  });

  it('refuses no file on the default branch, where none is new', async () => {
    const [server, suite] = [await startServerOnDisk(), new TestProject(FILES)];
    await queue(suite, server, 0, PASSES, { FLAKY });
    expect(await verify(suite, server, '--fail-on-flaky', 'new')).toMatchObject({
      code: 0,
      stderr: 'ballast: no flaky file is new on main, the default branch: --fail-on-flaky new refuses none\n',
    });
  });

  it('fails both nodes when the file fails again, and retries it by hand like any other', async () => {
    const [server, suite] = [await startServerOnDisk(), new TestProject(FILES)];
    // The second node has nothing but the retry.
    const first = await queue(suite, server, 0, PASSES, { FAILING: FLAKY });
    expect(first).toMatchObject(ended(1, new RegExp(`\nballast: failed: ${FLAKY}\n$`)));
    expect(suite.ran.filter(file => file === FLAKY)).toHaveLength(2);
    expect(await queue(suite, server, 0, PASSES)).toMatchObject({ code: 0 });
    expect(suite.ran.filter(file => file === FLAKY)).toHaveLength(3);
    const { stdout } = await verify(suite, server);
    expect(stdout).not.toContain('when retried');
  });

  it('fails the node when no report mentions the file in its retry', async () => {
    const [server, suite] = [await startServerOnDisk(), new TestProject(FILES)];
    expect(await queue(suite, server, 0, PASSES, { FLAKY, VANISHING: FLAKY })).toMatchObject(
      ended(1, new RegExp(`\nballast: failed: ${FLAKY}\n$`)),
    );
    expect(suite.ran.filter(file => file === FLAKY)).toHaveLength(2);
  });

  it('runs again on the same node when no other one comes, and records the failure', async () => {
    const [server, suite] = [await startServerOnDisk(), new TestProject(FILES)];
    expect(await queue(suite, server, 0, PASSES, { FLAKY })).toMatchObject({ code: 0 });
    const [run] = await server.store.builds.runs((await server.store.builds.find(1, { ...BUILD }))!.number);
    expect(run).toBeDefined();
    expect((await verify(suite, server)).stdout).toContain(`1 failed and passed when retried (${FLAKY})`);
  });

  it('names a muted failure also where its retry passes', async () => {
    const [server, suite] = [await startServerOnDisk(), new TestProject(FILES)];
    mkdirSync(join(suite.folder, '.ballast'));
    writeFileSync(join(suite.folder, '.ballast/muted'), `${FLAKY} until=2999-12-31 owner=@web reason=issue 4711`);
    expect(await queue(suite, server, 0, RETRY, { FLAKY })).toMatchObject(
      ended(0, `\nballast: 1 muted failure: ${FLAKY} (.ballast/muted:1, until 2999-12-31, @web: issue 4711)\n`),
    );
    expect(suite.ran.filter(file => file === FLAKY)).toHaveLength(2);
    expect((await verify(suite, server)).stdout).toContain(`1 failed and passed when retried (${FLAKY})`);
  });

  it('refuses options that miss another one', async () => {
    const [server, suite] = [await startServerOnDisk(), new TestProject(FILES)];
    const run = (...flags: string[]) =>
      runBallast(['queue', GLOB, ...flags, ...suite.runner], suite.environment(server, 0), { cwd: suite.folder });
    expect(await run('--flaky-passes')).toMatchObject(ended(2, '--flaky-passes is for --retry-failed: give both, or neither'));
    expect(await run('--retry-failed')).toMatchObject(
      ended(2, '--retry-failed needs the reports that the command writes, which tell what failed: name them with --junit'),
    );
    expect(suite.ran).toEqual([]);
  });

  it('does not retry a file that could not be loaded', async () => {
    const [server, suite] = [await startServerOnDisk(), new TestProject(FILES)];
    writeFileSync(
      join(suite.folder, 'runner.sh'),
      `mkdir -p reports; printf '%s\\n' "$@" >> "$RAN"; printf '<testsuites><testsuite>' > reports/0-$BALLAST_BATCH.xml
       for file do [ "$file" = ${FLAKY} ] && time=0 result='<error/>' || { time=1; result=; }
       printf '%s' "<testcase name='one' file='$file' time='$time'>$result</testcase>" >> reports/0-$BALLAST_BATCH.xml; done
       printf '</testsuite></testsuites>' >> reports/0-$BALLAST_BATCH.xml; case " $* " in *" ${FLAKY} "*) exit 1;; esac`,
    );
    expect(await queue(suite, server, 0, PASSES)).toMatchObject({ code: 1 });
    expect(suite.ran).toHaveLength(FILES.length);
  });
});
