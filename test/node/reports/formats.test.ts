import { createReadStream, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { detectFormat, type Format, reportOffset } from '../../../src/node/reports/format.js';
import { ListedFiles } from '../../../src/node/reports/known-files.js';
import { readers } from '../../../src/node/reports/readers.js';
import { SuiteTimes } from '../../../src/node/reports/suite-times.js';
import { temporaryFolder } from '../../harness/temporary-folder.js';
import { fixturePath } from './fixture.js';

const APP = '/home/ci/app';

/** Returns what an import would record of a file, rounded to milliseconds, and what it would leave out. */
async function timesIn(name: string, { root = APP, cases = false } = {}) {
  const file = fixturePath(name);
  const format = detectFormat(readFileSync(file, 'utf8')) as keyof typeof readers;
  const suite = new SuiteTimes({ root, known: null, cases });
  // Small chunks: no result may depend on their boundaries.
  await readers[format](createReadStream(file, { highWaterMark: 100 }), suite.timeCollector(format), {
    root: root === APP ? null : root,
    known: null,
  });
  const times = Object.fromEntries([...suite.times()].map(([path, seconds]) => [path, Math.round(seconds * 1000) / 1000]));
  return {
    format,
    times,
    leftOut: suite.skipped.entries.flatMap(({ reason, examples }) => examples.map(example => `${example}: ${reason}`)),
  };
}

const NOT_RUN = 'it took 0 s: it was not run';

describe('a report', () => {
  it.each<[string, Format, Record<string, number>, string[]]>([
    [
      'test_durations.json',
      'pytest-split',
      { 'tests/test_cart.py': 1.752, 'tests/web/test_login.py': 2.75 },
      [`tests/web/test_skipped.py: ${NOT_RUN}`],
    ],
    ['test_durations_pairs.json', 'pytest-split', { 'tests/test_cart.py': 1.75, 'tests/web/test_login.py': 2.75 }, []],
    [
      'knapsack_rspec_report.json',
      'knapsack',
      { 'spec/models/cart_spec.rb': 41.531, 'spec/models/user_spec.rb': 20.101, 'spec/features/order_spec.rb': 19.732 },
      [],
    ],
    // From two runs, with other output of RSpec.
    [
      'parallel_runtime_rspec.log',
      'parallel-tests',
      { 'spec/jobs/cart_spec.rb': 42, 'spec/jobs/user_spec.rb': 20.1, 'spec/quick_spec.rb': 0 },
      [
        ...['Randomized with seed 4711', 'Randomized with seed 4711', 'Run options: exclude {:slow=>true}']
          .sort()
          .map(line => `${line}: the line is not "path:seconds"`),
        `spec/skipped_spec.rb: ${NOT_RUN}`,
      ],
    ],
    ['cypress-timings.json', 'cypress-split', { 'cypress/e2e/cart.cy.js': 10.05, 'cypress/e2e/user.cy.js': 0.09 }, []],
    // The last attempts in both projects: 1.2 + 1.8 + 2.5 + 2.7.
    ['playwright.json', 'playwright', { 'e2e/cart.spec.ts': 8.2, 'e2e/admin/login.spec.ts': 4.2 }, [`e2e/later.spec.ts: ${NOT_RUN}`]],
    [
      'jest.json',
      'jest',
      { 'src/cart/add.test.js': 0.399, 'src/user.test.js': 0.055 },
      [`src/broken.test.js: ${NOT_RUN}`, `src/skipped.test.js: ${NOT_RUN}`],
    ],
    [
      'vitest.json',
      'vitest',
      { 'src/cart/add.test.js': 0.128, 'src/user.test.js': 0.031 },
      [`src/broken.test.js: ${NOT_RUN}`, `src/skipped.test.js: ${NOT_RUN}`],
    ],
    ['rspec.json', 'rspec', { 'spec/later_spec.rb': 0, 'spec/models/cart_spec.rb': 0.102, 'spec/user_spec.rb': 0.02 }, []],
    [
      'mocha.json',
      'mocha',
      { 'test/cart.test.js': 0.133, 'test/quick.test.js': 0.001 },
      [`test/hook.test.js: ${NOT_RUN}`, `test/skipped.test.js: ${NOT_RUN}`],
    ],
    ['rspec.xml', 'junit', { 'spec/models/cart_spec.rb': 0.17, 'spec/user_spec.rb': 0.031 }, []],
    ['pytest.xml', 'junit', { 'tests/unit/test_cart.py': 0.051 }, [`tests/web/test_login.py: ${NOT_RUN}`]],
    ['vitest.xml', 'junit', { 'vi/a.test.mjs': 0.053, 'vi/b.test.mjs': 0.005 }, [`vi/c.test.mjs: ${NOT_RUN}`]],
    ['jest-junit-file.xml', 'junit', { 'src/cart.test.js': 0.143, 'src/user.test.js': 0.111 }, []],
    ['cypress.xml', 'junit', { 'cypress/e2e/cart.cy.js': 1.9, 'cypress/e2e/user.cy.js': 1.9 }, []],
    ['dart-test.json', 'dart-test', { 'test/cart_test.dart': 0.751, 'test/user_test.dart': 0.3 }, [`test/broken_test.dart: ${NOT_RUN}`]],
    ['ctrf.json', 'ctrf', { 'e2e/cart.spec.ts': 1.5, 'e2e/user.spec.ts': 0.251 }, [`e2e/later.spec.ts: ${NOT_RUN}`]],
    ['go-junit-report.xml', 'junit', { 'example.com/shop/cart': 0.305, 'example.com/shop/user': 0.002 }, []],
  ])('%s is detected by its content and read', async (name, format, times, leftOut) => {
    const read = await timesIn(name);
    expect({ ...read, leftOut: read.leftOut.sort() }).toEqual({ format, times, leftOut });
  });

  it('of Playwright has paths relative to the root, if given', async () => {
    const { times } = await timesIn('playwright.json', { root: '/home/ci' });
    expect(Object.keys(times)).toEqual(['app/e2e/cart.spec.ts', 'app/e2e/admin/login.spec.ts']);
  });
});

/** Returns the times in a text of a format. */
async function readTimes(
  format: keyof typeof readers,
  text: string,
  known: readonly string[] | null = null,
  root: string | null = null,
): Promise<[string, number][]> {
  const times: [string, number][] = [];
  const bytes = Readable.from([Buffer.from(text)]) as AsyncIterable<Buffer>;
  await readers[format](bytes, (path, seconds) => void times.push([path, seconds]), { root, known: known && new ListedFiles(known) });
  return times;
}

describe('a report with gaps', () => {
  it('of Playwright, merged from shards without a configuration, has absolute paths', async () => {
    const text = JSON.stringify({
      config: { rootDir: '/ci/app/e2e' },
      suites: [{ file: 'a.spec.ts', specs: [{ tests: [{ results: [{ duration: 1500 }] }] }] }],
    });
    expect(await readTimes('playwright', text)).toEqual([['/ci/app/e2e/a.spec.ts', 1.5]]);
  });

  it.each<[string, string, [string, number][]]>([
    ['a class with a name in lower case', 'tests.test_cart.lowerCase', [['tests/test_cart.py', 2]]],
    ['Django’s module', 'shop.tests.CartTest', [['shop/tests.py', 2]]],
    ['a module that is no test by its name', 'tests.checks.cart', []],
    ['a title, as Node’s test runner has it', 'test', []],
    ['a class of Java', 'com.example.CartTest', []],
  ])('of %s is matched by its name, or not at all', async (_, classname, times) => {
    const all = await readTimes('junit', `<testsuite><testcase classname="${classname}" name="a" time="2"/></testsuite>`);
    expect(all.filter(([, seconds]) => !Number.isNaN(seconds))).toEqual(times);
  });

  it('is matched to the test files, if given', async () => {
    const xml =
      '<testsuite><testcase classname="tests.checks.cart" name="a" time="2"/><testcase file="/ci/x/web/a.spec.ts" time="1"/></testsuite>';
    expect(await readTimes('junit', xml, ['app/tests/checks/cart.py', 'web/a.spec.ts'])).toEqual([
      ['app/tests/checks/cart.py', 2],
      ['web/a.spec.ts', 1],
    ]);
  });

  it('is matched to the files of this folder: modules of any name, and those that run inherited tests', async () => {
    const root = temporaryFolder();
    for (const name of ['base.py', 'cart_checks.py']) writeFileSync(join(root, name), '');
    const xml =
      '<testsuite><testcase classname="cart_checks.Cart" name="a" file="base.py" time="2"/><testcase classname="cart_checks" name="b" time="1"/><testcase file="gone.py" time="4"/></testsuite>';
    expect(await readTimes('junit', xml, null, root)).toEqual([
      ['cart_checks.py', 3],
      ['gone.py', 4],
    ]);
  });

  it.each<[string, string, keyof typeof readers, [string, number][]]>([
    [
      'of Visual Studio',
      'vstest.trx',
      'trx',
      [
        ['Shop.Tests.CartTests', 61.75],
        ['Shop.Tests.UserTests', 0.7],
        ['Shop.Tests.LaterTests', 0],
      ],
    ],
    [
      'of nextest',
      'nextest.xml',
      'junit',
      [
        ['shop', 0.012],
        ['shop::api', 1.75],
        ['shop::bin/shop', 0.15],
      ],
    ],
    ['of Surefire', 'surefire-nested.xml', 'junit', [['src/test/java/a/b/CartTest.java', 0.907]]],
  ])('%s has the names of the list', async (_, name, format, times) => {
    const text = readFileSync(fixturePath(name), 'utf8');
    const paths = times.map(([path]) => path);
    expect(detectFormat(text)).toBe(format);
    const suite = new SuiteTimes({ root: APP, known: new ListedFiles(paths), cases: false });
    for (const [path, seconds] of await readTimes(format, text, paths)) suite.timeCollector(format)(path, seconds);
    expect([...suite.times()]).toEqual(times.filter(([, seconds]) => seconds > 0));
    // Without the list, such a name is no file.
    expect((await readTimes(format, text)).every(([, seconds]) => Number.isNaN(seconds))).toBe(true);
  });

  it('of go test has packages as files', async () => {
    expect(await readTimes('go-test', 'ok  \texample.com/shop/cart\t0.305s\nok  \tmail\t(cached)\n')).toEqual([
      ['example.com/shop/cart', 0.305],
      ['mail', 0],
    ]);
  });
});

describe('output before a report', () => {
  const jest = '{"numTotalTests":1,"numRuntimeErrorTestSuites":0,"testResults":[]}';
  it.each([
    ['npm’s banner', '\n> shop@1.0.0 test\n> jest --json\n\n', jest],
    ['a line of a configuration', '[dotenv@17.2.3] injecting env – ü\n', jest],
    ['nothing', '', jest],
    ['that of Flutter', 'Running "flutter pub get"...\n[{"event":"daemon"}]\n', '{"protocolVersion":"0.1.1","type":"start","time":0}\n'],
    ['nothing', '', 'spec/a_spec.rb:1\n{"a_spec.rb": 1}'],
    ['what is no report', '', 'hello\n{"a": "b"}'],
  ])('may be %s', (_, before, report) => {
    expect(reportOffset(Buffer.from(before + report))).toBe(Buffer.byteLength(before));
  });
});

describe('the format of a file', () => {
  it.each<[string, Format | null]>([
    ['\uFEFF<?xml version="1.0"?>\n<testsuites>', 'junit'],
    ['{"source":"x","unit":"seconds","timings":{"a_spec.rb":1}}', 'knapsack'],
    ['{"test/a_test.rb": 1, "with \\"quotes\\" {.rb": 2', 'knapsack'],
    ['{"config": {"configFile": "/a/playwright.config.ts", "projects": [{"na', 'playwright'],
    ['{"type":"export","v":1,"projects":["default"]}\n{"type":"build"', 'ballast'],
    ['{"id":"7","commit_hash":"abc","build_subsets":[', 'ballast'],
    ['spec/a b_spec.rb:1.5\n', 'parallel-tests'],
    ['C:/app/a_spec.rb:12\n', 'parallel-tests'],
    ['{"meta":{"total_pages":1},"links":{},"data":[]}', null],
    ['\nRandomized with seed 1\nspec/a_spec.rb:9.0e-05\n', 'parallel-tests'],
    ['{"Time":"2026-11-21T10:00:00Z","Action":"start","Package":"example.com/shop"}\n{"Time"', 'go-test'],
    ['ok  \texample.com/shop/cart\t0.305s\n', 'go-test'],
    ['go: downloading example.com/x v1.0.0\n{"Time":"2026-11-21T10:00:00Z","Action":"start"}\n', 'go-test'],
    ['\uFEFF<?xml version="1.0"?>\n<!-- <testsuite> -->\n<TestRun id="1">', 'trx'],
    ['<testsuite><system-out><TestRun>', 'junit'],
    ['<TestRunner>', 'junit'],
    ['{"protocolVersion":"0.1.1","runnerVersion":null,"pid":1,"type":"start","time":0}\n{"suite"', 'dart-test'],
    ['{"reportFormat":"CTRF","specVersion":"1.0.0","results":{"tool":{"name":"x"}', 'ctrf'],
    ['{"results":[]}', null],
    ['[["1","2","3",null,1749.7],"4.1.12"]', null],
    ['hello', null],
    ['total: 12\n', null],
    ['{"a": "b"}', null],
  ])('that begins with %j is %s', (head, format) => {
    expect(detectFormat(head)).toBe(format);
  });
});
