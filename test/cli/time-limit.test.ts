import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { expectCompleteness, getCompleteness } from '../harness/completeness.js';
import { sortPaths } from '../harness/messages.js';
import { ended, runBallast } from '../harness/process.js';
import { startServerOnDisk } from '../harness/server.js';
import { BUILD, fetchRecordedTimes, TestProject } from './test-project.js';

const FILES = ['a', 'b', 'c', 'd', 'e', 'f'].map(name => `test/${name}.test.sh`);
const HUNG = FILES[2]!;
const JUNIT = ['--junit', 'reports/*.xml'];

/** Ways in which a test file hangs. The first is a runner that does not end because a child of the tests holds a pipe. */
const WAYS: Record<string, string> = {
  'a child that stays and holds stdout': 'setsid sleep 600 &',
  sleep: 'sleep 600',
  'an endless loop': 'while :; do :; done',
  'ignored signals': "trap '' TERM INT HUP QUIT; while :; do sleep 0.1; done",
};

/** A test runner that runs its files, and writes one report at its end. */
const RUNNER = `
for file do
  echo "$file" >> "$RAN"
  . "./$file"
  cases="$cases<testcase name='one' file='$file' time='1'/>"
done
mkdir -p reports
printf '%s' "<testsuites><testsuite>$cases</testsuite></testsuites>" > "reports/$BALLAST_BATCH.xml"
`;

function makeSuite(way: string): TestProject {
  const suite = new TestProject(FILES);
  writeFileSync(join(suite.folder, 'runner.sh'), RUNNER);
  writeFileSync(join(suite.folder, HUNG), way);
  return suite;
}

describe('a test file that hangs', () => {
  it.each(Object.entries(WAYS))('fails by its name, and all others are recorded: %s', async (_, way) => {
    const [server, suite] = [await startServerOnDisk(), makeSuite(way)];
    // The pipe ends when all processes that hold it have ended.
    const piped = ['--', 'sh', '-c', 'sh runner.sh "$@" | cat', 'sh', '{}'];
    const args = ['queue', 'test/*.sh', ...JUNIT, '--time-limit', '1s', ...piped];
    const run = await runBallast(args, suite.environment(server, 0), { cwd: suite.folder });
    expect(run).toMatchObject(ended(1, new RegExp(`\nballast: failed: ${HUNG}\nballast: hung: ${HUNG} ran for longer than 1\\.0 s\n$`)));
    const others = FILES.filter(file => file !== HUNG);
    expect(sortPaths(Object.keys(await fetchRecordedTimes(server)))).toEqual(others);
    // Once with its batch, unless it had one alone, and once alone.
    expect(suite.ran.filter(file => file === HUNG).length).toBeLessThanOrEqual(2);
    await expectCompleteness(server, { ...BUILD, node_build_id: '7' }, 409, {
      recorded: 5,
      handed_out_not_recorded: [{ path: HUNG, node_index: 0 }],
    });
    const [build] = (await server.get('/v1/builds')).json.data;
    const { verdict, failed, missing } = (await server.get(`/v1/builds/${build.id}/minutes`)).json;
    expect(verdict).toContain(HUNG);
    expect([failed, missing]).toEqual([[expect.objectContaining({ path: HUNG })], [expect.objectContaining({ path: HUNG })]]);
  });

  it('leaves out the rest of its batch if three in a row hang alone', async () => {
    const [server, suite] = [await startServerOnDisk(), makeSuite('sleep 600')];
    const files = [...FILES, ...Array.from({ length: 4 }, (_, i) => `test/more-${i}.test.sh`)];
    for (const file of files) writeFileSync(join(suite.folder, file), 'sleep 600');
    // The only node gets all files in one batch.
    const alone = { BALLAST_NODE_TOTAL: '1' };
    const run = await suite.run(server, 0, ['queue', 'test/*.sh', ...JUNIT, '--time-limit', '1s', '--', 'sh', 'runner.sh', '{}'], alone);
    expect(run).toMatchObject(
      ended(1, /3 test files in a row hung alone, so \d other test files? of this batch fails? without being run\n/),
    );
    const { json } = await getCompleteness(server, { ...BUILD, node_total: 1, node_build_id: '7' });
    expect(sortPaths(json.handed_out_not_recorded.map(({ path }: { path: string }) => path))).toEqual(sortPaths(files));
  });

  it('is not ended with --time-limit off', async () => {
    const [server, suite] = [await startServerOnDisk(), makeSuite('sleep 2')];
    const run = await suite.run(server, 0, ['queue', 'test/*.sh', ...JUNIT, '--time-limit', 'off', ...suite.runner]);
    expect(run.code).toBe(0);
    expect(suite.ran).toHaveLength(FILES.length);
  });
});

describe('--time-limit', () => {
  it.each([
    ['0', 'It must be longer than 0 s, or off.'],
    ['soon', 'It must be a duration such as 90s, 10m or 1h30m.'],
  ])('refuses %s', async (text, message) => {
    const run = await new TestProject(FILES).run({ url: 'http://127.0.0.1:1', token: 't' }, 0, [
      'queue',
      'test/*',
      '--time-limit',
      text,
      '--',
      'true',
    ]);
    expect(run).toMatchObject(ended(2, message));
  });
});
