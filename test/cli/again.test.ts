import { spawnSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Client } from '../harness/client.js';
import { record, startSplit, timedTestFiles } from '../harness/messages.js';
import { ended } from '../harness/process.js';
import { QueueNode } from '../harness/queue-node.js';
import { SharedServer } from '../harness/server.js';
import { BUILD, TestProject } from './test-project.js';

const shared = new SharedServer();
const FILES = Array.from({ length: 20 }, (_, i) => `test/${String(i).padStart(2, '0')}.test.sh`);
const JUNIT = ['--junit', 'reports/*.xml'];

/** A test runner in whose process each test file sees those that ran before it, in $done. It writes one report at its end. */
const RUNNER = `
code=0
for file do
  echo "$file" >> "$RAN"
  (. "./$file") && failure= || { failure='<failure/>'; code=1; }
  cases="$cases<testcase name='one' file='$file' time='1'>$failure</testcase>"
  done="$done $file"
done
mkdir -p reports
printf '%s' "<testsuites><testsuite>$cases</testsuite></testsuites>" > "reports/$BALLAST_BATCH.xml"
exit $code
`;

interface CiRun {
  server: Client;
  suite: TestProject;
  /** Those of node 0, all of which it ran. */
  batches: string[][];
  /** The last file of its first batch of several, which failed. */
  failed: string;
}

/** A CI run with two nodes. Node 1 gets one batch. Three files take long, so that they are in batches of their own, and the others in long ones. */
async function ranCiRun(): Promise<CiRun> {
  const [server, suite] = [await shared.project(), new TestProject(FILES)];
  writeFileSync(join(suite.folder, 'runner.sh'), RUNNER);
  const timesOf = (files: readonly string[]) => timedTestFiles(Object.fromEntries(files.map(file => [file, file < FILES[3]! ? 60 : 0.01])));
  await record(server, { ...BUILD, commit_hash: 'c0', node_index: 0, test_files: timesOf(FILES) });
  const nodes = [0, 1].map(index => new QueueNode(server, index, { ...BUILD, test_queue_id: '7' }));
  const batches = [await nodes[0]!.start(FILES)];
  const others = await nodes[1]!.start(FILES);
  let failed = '';
  for (let batch = await nodes[0]!.next(); batch.length > 0; ) {
    batches.push(batch);
    const isFirst = failed === '' && batch.length >= 4;
    if (isFirst) failed = batch.at(-1)!;
    batch = await nodes[0]!.next(isFirst ? [failed] : []);
  }
  await nodes[1]!.next();
  for (const [node_index, files] of [batches.flat(), others].entries())
    await record(server, { ...BUILD, node_index, ci_build_id: '7', test_files: timesOf(files) });
  return { server, suite, batches, failed };
}

const again = ({ server, suite }: Pick<CiRun, 'server' | 'suite'>, ...args: string[]) => suite.run(server, 0, ['again', ...args]);
const bisect = (ciRun: CiRun, ...args: string[]) => again(ciRun, '--node', '0', '--bisect', ...JUNIT, ...args, ...ciRun.suite.runner);

/** Gives a test file a text that fails, or does something else, behind another one in its process. */
function plant({ suite, failed }: CiRun, polluter: string, then = 'exit 1', file = failed): void {
  writeFileSync(join(suite.folder, file), `case "$done " in *" ${polluter} "*) ${then} ;; esac`);
}

describe('ballast again', () => {
  it('prints the batches of a node in their order, and what failed', async () => {
    const ciRun = await ranCiRun();
    const { batches, failed } = ciRun;
    const list = await again(ciRun, '--node', '0');
    expect(list).toMatchObject({ code: 0, stdout: batches.map(batch => `${batch.join(' ')}\n`).join('') });
    expect(list.stderr.split('\n').slice(0, 2)).toEqual([
      'ballast: node 0 of CI run 7, commit c1',
      `ballast: batch 1: ${batches[0]!.length} test file, 60 s by estimate`,
    ]);
    expect(list.stderr).toContain(`; failed in the CI run: ${failed}\n`);
    const [build] = (await ciRun.server.get('/v1/builds')).json.data;
    expect((await again(ciRun, build.id as string, '--node', '0')).stdout).toBe(list.stdout);
    const batch = batches.find(each => each.includes(failed))!;
    expect(await again(ciRun, '--node', '0', '--file', `./${batch[1]}`)).toMatchObject({ stdout: `${batch[0]} ${batch[1]}\n` });
  });

  it('runs them here, and records nothing', async () => {
    const ciRun = await ranCiRun();
    const { server, suite, batches, failed } = ciRun;
    const builds = (await server.get('/v1/builds')).text;
    const run = () => again(ciRun, '--node', '0', ...JUNIT, ...suite.runner);
    expect(await run()).toMatchObject(ended(0, `ballast: failed in the CI run, and passed here: ${failed}\n`, ''));
    expect(suite.ran).toEqual(batches.flat());
    plant(ciRun, batches.find(batch => batch.includes(failed))![0]!);
    expect(await run()).toMatchObject(ended(1, new RegExp(`\nballast: failed: ${failed}\n$`), ''));
    expect((await server.get('/v1/builds')).text).toBe(builds);
  });

  it.each([
    ['node 7', ['--node', '7'], 2, 'node 7 got no test file in this CI run: give one of the nodes that did, 0, 1'],
    ['CI run', ['--node', '0', '--build-id', '8'], 1, 'the server has no recorded build of the commit c1, branch main, CI run 8: give '],
    ['build', ['--node', '0', 'x'], 1, 'the server has no recorded build with the id x, CI run 7: give '],
    ['file', ['--node', '0', '--file', 'x'], 2, 'node 0 did not run x: without --file, ballast again prints what it ran'],
    ['failed file', ['--node', '1', '--bisect', '--', 'true'], 2, 'no test file failed on the node; name one with --file'],
    ['command', ['--node', '0', '--bisect'], 2, '--bisect needs a command: give it after --'],
  ])('says that there is no such %s', async (_, args, code, message) => {
    expect(await again(await ranCiRun(), ...args)).toMatchObject(ended(code, message, ''));
  });

  it('names the node that ran a file, and does not repeat one that is not here', async () => {
    const ciRun = await ranCiRun();
    const { suite, batches, failed } = ciRun;
    const other = FILES.find(file => !batches.flat().includes(file))!;
    expect(await again(ciRun, '--node', '0', '--file', other)).toMatchObject(
      ended(2, `node 0 did not run ${other}: give --node 1, which did`),
    );
    rmSync(join(suite.folder, failed));
    const count = batches.flat().length;
    expect(await bisect(ciRun)).toMatchObject(
      ended(2, `cannot repeat ${failed}: 1 of ${count} test files does not exist in ${suite.folder}`, ''),
    );
    expect(await again(ciRun, '--node', '0')).toMatchObject(ended(0, `WARNING: 1 of ${count} test files does not exist`));
  });

  it('prints the part of a node of a split', async () => {
    const [server, suite] = [await shared.project(), new TestProject(FILES.slice(0, 3))];
    const { test_files } = (await startSplit(server, suite.files, { ...BUILD, node_total: 1, ci_build_id: '7' })).json;
    const files = test_files.map(({ path }: { path: string }) => path) as string[];
    await record(server, { ...BUILD, node_total: 1, ci_build_id: '7', test_files: files.map(path => ({ path, time_execution: 1 })) });
    expect(await again({ server, suite }, '--node', '0')).toMatchObject({ code: 0, stdout: `${files.join(' ')}\n` });
    expect(await again({ server, suite }, '--node', '0', '--bisect', '--', 'true')).toMatchObject(
      ended(2, 'it is not known which test files of the node failed; name one with --file'),
    );
  });
});

describe('ballast again --bisect', () => {
  it('finds the file before it that makes a file fail, and prints a command that repeats it', async () => {
    const ciRun = await ranCiRun();
    const { suite, batches, failed } = ciRun;
    const batch = batches.find(each => each.includes(failed))!;
    for (const [n, polluter] of [[batch.length - 1, batch[0]!] as const, [batch.length - 1, batch.at(-2)!] as const]) {
      plant(ciRun, polluter);
      const { code, stdout, stderr } = await bisect(ciRun);
      expect({ code, stdout }).toEqual({ code: 0, stdout: `sh runner.sh ${polluter} ${failed}\n` });
      const [, runs] = new RegExp(`\nballast: ${failed} passes alone, and fails with ${polluter} \\((\\d+) runs\\)\n$`).exec(stderr)!;
      expect(Number(runs)).toBeLessThanOrEqual(2 * Math.log2(n) + 3);
      const env = { ...process.env, RAN: '/dev/null' };
      expect(spawnSync('sh', ['-c', stdout], { cwd: suite.folder, env }).status).toBe(1);
    }
  });

  it('finds one of an earlier batch, too', async () => {
    const ciRun = await ranCiRun();
    const polluter = ciRun.batches[0]![0]!;
    plant(ciRun, polluter);
    expect(await bisect(ciRun)).toMatchObject({ code: 0, stdout: `sh runner.sh ${polluter} ${ciRun.failed}\n` });
  });

  it('says that a file fails alone, or that the failure does not come again', async () => {
    const ciRun = await ranCiRun();
    expect(await bisect(ciRun)).toMatchObject(
      ended(1, `the failure does not come again here: ${ciRun.failed} passed alone, and with `, ''),
    );
    writeFileSync(join(ciRun.suite.folder, ciRun.failed), 'exit 1');
    expect(await bisect(ciRun)).toMatchObject(
      ended(0, `${ciRun.failed} fails alone: the order does not matter\n`, `sh runner.sh ${ciRun.failed}\n`),
    );
  });

  it('does not take a file that fails itself for the one, and needs reports to tell them apart', async () => {
    const ciRun = await ranCiRun();
    const { suite, batches, failed } = ciRun;
    const [first, second] = batches.find(batch => batch.includes(failed))!;
    writeFileSync(join(suite.folder, first!), 'exit 1');
    plant(ciRun, second!);
    const reason = `nothing is found: ${first} fails without ${failed}, too, and an exit code does not tell which file failed; give --junit\n`;
    expect(await again(ciRun, '--node', '0', '--bisect', ...suite.runner)).toMatchObject(ended(1, reason, ''));
    expect(await bisect(ciRun)).toMatchObject({ code: 0, stdout: `sh runner.sh ${second} ${failed}\n` });
  });

  it.each([
    ['the command writes no report', 'exit 1'],
    ['the command fails, and its report has no failure', RUNNER.replace('exit $code', 'exit 1')],
    ['the report leaves out the file', RUNNER.replace('for file do', 'for file in other; do').replace('(. "./$file")', 'true')],
  ])('finds nothing where %s', async (_, runner) => {
    const ciRun = await ranCiRun();
    writeFileSync(join(ciRun.suite.folder, 'runner.sh'), runner);
    expect(await bisect(ciRun)).toMatchObject(
      ended(1, `nothing is found: no report of run 1 tells whether ${ciRun.failed} passed; see what the command printed, or `, ''),
    );
  });

  it('finds nothing where what a test leaves behind outlives the command', async () => {
    const ciRun = await ranCiRun();
    const { suite, batches, failed } = ciRun;
    const batch = batches.find(each => each.includes(failed))!;
    writeFileSync(join(suite.folder, batch.at(-2)!), 'touch dirty');
    writeFileSync(join(suite.folder, failed), '! [ -e dirty ]');
    expect(await bisect(ciRun)).toMatchObject(
      ended(1, `nothing is found: ${failed} failed alone this time: it fails now and then, or after `, ''),
    );
    const reset = ['--', 'sh', '-c', 'rm -f dirty; . ./runner.sh', 'sh', '{}'];
    expect(await again(ciRun, '--node', '0', '--bisect', ...JUNIT, ...reset)).toMatchObject(
      ended(0, `${failed} passes alone, and fails with ${batch.at(-2)} (`),
    );
  });

  it('counts a command that hangs as a failure, and runs none of its files alone', async () => {
    const ciRun = await ranCiRun();
    const { suite, batches, failed } = ciRun;
    const [first, , third] = batches.find(batch => batch.includes(failed))!;
    plant(ciRun, first!, 'sleep 60', third);
    expect(await bisect(ciRun, '--file', third!, '--time-limit', '2s')).toMatchObject({
      code: 0,
      stdout: `sh runner.sh ${first} ${third}\n`,
    });
    expect(suite.ran.filter(file => file === third)).toHaveLength(4);
  });
});
