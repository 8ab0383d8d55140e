import { utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ended, said } from '../harness/process.js';
import { startProxy } from '../harness/proxy.js';
import { SharedServer, startServer } from '../harness/server.js';
import { readFixture } from '../node/reports/fixture.js';
import { fetchRecordedTimes, TestProject, unreachableServer } from './test-project.js';

const shared = new SharedServer();

function suiteWith(files: readonly string[], ...reports: string[]): TestProject {
  const suite = new TestProject(files);
  for (const report of reports) writeFileSync(join(suite.folder, `${report}.xml`), readFixture(report));
  return suite;
}

describe('ballast record', () => {
  it.each<[string, string[], Record<string, number>]>([
    ['vitest', ['vi/a.test.mjs', 'vi/b.test.mjs', 'vi/c.test.mjs'], { 'vi/a.test.mjs': 0.053, 'vi/b.test.mjs': 0.005, 'vi/c.test.mjs': 0 }],
    // Its packages are not files here. All cases of one package were skipped.
    ['go-junit-report', [], { 'example.com/shop/cart': 0.305, 'example.com/shop/user': 0 }],
    ['minitest', [], { 'test/models/cart_test.rb': 1.25 }],
  ])('records the files of a report of %s', async (report, files, expected) => {
    const [server, suite] = [await shared.project(), suiteWith(files, report)];
    expect(await suite.run(server, 1, ['record', '*.xml'])).toMatchObject(
      ended(0, /^ballast: recorded \d test files?, \d\.\d s, as node 1 of 2\n(ballast: WARNING: reports have failures .*\n)?$/),
    );
    const times = await fetchRecordedTimes(server);
    expect(Object.fromEntries(Object.entries(times).map(([path, time]) => [path, Math.round(time * 1000) / 1000]))).toEqual(expected);
  });

  it('takes the names of a list, and names the files that are in no report', async () => {
    const [server, suite] = [await shared.project(), suiteWith([], 'gotestsum')];
    const record = (...flags: string[]) =>
      suite.run(server, 0, ['record', 'gotestsum.xml', '--files-from', '-', ...flags], {}, './cart\n./user\n');
    expect(await record()).toMatchObject(
      ended(0, /^ballast: WARNING: no report mentions 1 of 2 test files \(not recorded\): \.\/user\nballast: recorded 1 /),
    );
    expect(await fetchRecordedTimes(server)).toEqual({ './cart': 0.305 });
    const passed = await record('--exit-code', '0', '--json');
    expect(passed).toMatchObject(
      ended(
        0,
        /^ballast: WARNING: no report mentions 1 of 2 test files \(recorded as not measured\): \.\/user \(--fail-unreported: fail instead\)\nballast: recorded 2 /,
      ),
    );
    expect(JSON.parse(passed.stdout)).toEqual({
      test_files: [
        { path: './cart', time_execution: 0.305 },
        { path: './user', time_execution: 0 },
      ],
      not_recorded: [],
      unknown_test_cases: 0,
    });
  });

  it('fails for failures in reports with --exit-code 0, but records the times', async () => {
    const [server, suite] = [await shared.project(), suiteWith([], 'rspec', 'gotestsum')];
    const record = (...args: string[]) => suite.run(server, 0, ['record', ...args]);
    writeFileSync(join(suite.folder, 'list'), 'spec/models/cart_spec.rb\nspec/user_spec.rb\nspec/other_spec.rb\n');
    utimesSync(join(suite.folder, 'rspec.xml'), 1, 1);
    const ignored = await record('rspec.xml', '--files-from', 'list', '--exit-code', '0');
    expect(ignored.code).toBe(1);
    // The file is not recorded: a failed command may not have run it.
    expect(ignored.stderr).toMatch(
      /^ballast: WARNING: reports are older than list and may be from an earlier run: rspec\.xml \(remove reports before the tests run\)\n.* 1 of 3 test files \(not recorded\): spec\/other_spec\.rb\nballast: recorded 2 .*\nballast: failed: spec\/models\/cart_spec\.rb\nballast: the command ended with 0, but record ends with 1: a report has failures/,
    );
    expect(await record('rspec.xml', '--exit-code', '0', '--trust-exit-code')).toMatchObject(
      ended(0, /failed: spec\/models\/cart_spec\.rb\n$/),
    );
    const unreported = await record('gotestsum.xml', '--files-from', 'list', '--exit-code', '0', '--fail-unreported');
    expect(unreported).toMatchObject(ended(1, 'no report mentions 3 of 3 test files (not recorded)'));
    expect(await record('rspec.xml', '--fail-unreported')).toMatchObject(ended(2, '--fail-unreported needs the list'));
  });

  it('names test cases of unknown files, and fails if there are no others', async () => {
    const [server, suite] = [await shared.project(), suiteWith(['tests/unit/test_cart.py'], 'pytest')];
    expect(await suite.run(server, 0, ['record', 'pytest.xml'])).toMatchObject(
      ended(0, /^ballast: WARNING: left out 1 test case of no known test file: tests\.web\.test_login test_fails\n/),
    );
    const none = suiteWith([], 'pytest');
    expect(await none.run(server, 0, ['record', 'pytest.xml'])).toMatchObject(
      ended(1, 'nothing to record: found no known test file in 1 report;'),
    );
  });

  it.each<[what: string, flags: string[], outcome: string | undefined]>([
    ['by its exit code', ['--exit-code', '1'], 'failed'],
    ['by its report', ['--exit-code', '0'], 'failed'],
    ['by neither, as the exit code is trusted', ['--exit-code', '0', '--trust-exit-code'], undefined],
  ])('takes each file for one that may have failed if the run failed in an unknown file: %s', async (_, flags, outcome) => {
    const [server, suite] = [await shared.project(), suiteWith(['tests/unit/test_cart.py'], 'pytest')];
    const { stdout } = await suite.run(server, 0, ['record', 'pytest.xml', '--json', ...flags]);
    const [file] = (JSON.parse(stdout) as { test_files: { outcome?: string }[] }).test_files;
    expect(file!.outcome).toBe(outcome);
  });

  it('says what its reports name instead of the files of the list', async () => {
    const [server, suite] = [await shared.project(), suiteWith([], 'surefire')];
    expect(await suite.run(server, 0, ['record', '*.xml', '--files-from', '-'], {}, 'a.b.CartTest\n')).toMatchObject(
      ended(
        1,
        /^ballast: WARNING: left out 1 test case of no known test file: "c\.OtherTest"; the list has "a\.b\.CartTest"\n(.*\n)*ballast: nothing to record: found no test file of the list in 1 report\n$/,
      ),
    );
  });

  it('names a report that is missing or is not a report', async () => {
    const suite = new TestProject([]);
    writeFileSync(join(suite.folder, 'bad.xml'), '<html/>');
    expect(await suite.run(unreachableServer, 0, ['record', 'bad.xml'])).toMatchObject(
      said(1, 'cannot use the report bad.xml: it is not a JUnit report: its first element is <html>, not <testsuites> or <testsuite>'),
    );
    expect(await suite.run(unreachableServer, 0, ['record', 'none/*.xml'])).toMatchObject(
      ended(2, /^ballast: no reports: nothing matches none\/\*\.xml in /),
    );
    expect(await suite.run(unreachableServer, 0, ['record'])).toMatchObject(ended(2, "missing required argument 'reports'"));
  });

  it('ends with 3 if the server has lost the split of the node: other nodes got parts of another split', async () => {
    const [server, suite] = [await startServer(), suiteWith(['src/cart.test.js', 'src/user.test.js'], 'jest-junit-filepath')];
    const record = ['record', '*.xml', '--node-total', '1'];
    const emptied = await startServer();
    let current: { url: string } = server;
    const client = { url: await startProxy(() => current), token: server.token };
    expect((await suite.run(client, 0, ['split', 'src/*.js', '--node-total', '1'])).code).toBe(0);
    expect((await suite.run(client, 0, record)).code).toBe(0);
    current = emptied;
    expect(await suite.run(client, 0, record)).toMatchObject(
      ended(3, /^ballast: recorded 2 .*\nballast: the server no longer has the split .* run all nodes of this CI run again\n$/),
    );
  });

  it('counts only for the CI run of the split, even without --build-id', async () => {
    const [server, suite] = [await shared.project(), suiteWith(['src/cart.test.js', 'src/user.test.js'], 'jest-junit-filepath')];
    const other = suiteWith(suite.files);
    const github = (id: string) => ({ BALLAST_BUILD_ID: '', BALLAST_NODE_TOTAL: '1', GITHUB_ACTIONS: 'true', GITHUB_RUN_ID: id });
    expect((await other.run(server, 0, ['split', 'src/*.js'], github('1'))).code).toBe(0);
    expect((await suite.run(server, 0, ['split', 'src/*.js'], github('2'))).code).toBe(0);
    expect((await suite.run(server, 0, ['record', '*.xml'], github('2'))).code).toBe(0);
    expect((await suite.run(server, 0, ['verify'], github('2'))).code).toBe(0);
    expect((await suite.run(server, 0, ['verify'], github('1'))).code).toBe(1);
  });

  it('works without a folder for temporary files', async () => {
    const [server, suite] = [await shared.project(), suiteWith(['src/cart.test.js', 'src/user.test.js'], 'jest-junit-filepath')];
    const TMPDIR = join(suite.folder, 'runner.mjs');
    expect((await suite.run(server, 0, ['split', 'src/*.js'], { TMPDIR })).code).toBe(0);
    expect((await suite.run(server, 0, ['record', '*.xml'], { TMPDIR })).code).toBe(0);
  });
});
