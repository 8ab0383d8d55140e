import { describe, expect, it } from 'vitest';
import { readJunit } from '../../src/reports/junit.js';
import { ListedFiles } from '../../src/reports/known-files.js';
import { collectResults } from '../../src/reports/report-results.js';
import { readFixture } from './fixture.js';

/** Returns the seconds by path, with "failed" if the file failed. */
function results(name: string, listed: readonly string[]): Record<string, string> {
  const { byFile } = collectResults(readJunit(readFixture(name)), new ListedFiles(listed));
  return Object.fromEntries(
    [...byFile].map(([path, { seconds, isFailed }]) => [path, `${seconds.toFixed(3)}${isFailed ? ' failed' : ''}`]),
  );
}

describe('the files of a report', () => {
  it.each<[string, string, Record<string, string>, missing?: string[]]>([
    ['vitest', 'vitest', { 'vi/a.test.mjs': '0.053', './vi/b.test.mjs': '0.005 failed', 'vi/c.test.mjs': '0.000 failed' }],
    ['jest-junit with files', 'jest-junit-file', { 'src/cart.test.js': '0.143', 'src/user.test.js': '0.111 failed' }],
    ['jest-junit with suites named by file', 'jest-junit-filepath', { 'src/cart.test.js': '0.141', 'src/user.test.js': '0.108 failed' }],
    [
      'jest-junit of a package, with paths of the repository',
      'jest-junit-file',
      { 'packages/shop/src/cart.test.js': '0.143', 'packages/shop/src/user.test.js': '0.111 failed' },
    ],
    ['pytest', 'pytest', { 'tests/unit/test_cart.py': '0.051', 'tests/web/test_login.py': '0.000 failed' }],
    ['pytest of a module that cannot be imported', 'pytest-not-imported', { 'tests/x/test_b.py': '0.086 failed' }, ['tests/x/test_c.py']],
    ['rspec', 'rspec', { 'spec/models/cart_spec.rb': '0.170 failed', 'spec/user_spec.rb': '0.031' }],
    ['minitest', 'minitest', { 'test/models/cart_test.rb': '1.250 failed' }],
    [
      'go-junit-report, packages as `go list` prints them',
      'go-junit-report',
      { 'example.com/shop/cart': '0.305 failed', 'example.com/shop/user': '0.002' },
    ],
    ['gotestsum, packages as folders', 'gotestsum', { './cart': '0.305' }, ['./user']],
  ])('of %s', (_, name, expected, missing = []) => {
    expect(results(name, [...Object.keys(expected), ...missing])).toEqual(expected);
  });

  it('use the cases of a suite that contains other suites', () => {
    const xml = '<testsuite file="a.rb" time="9"><testcase time="1"/><testsuite time="5"><testcase time="2"/></testsuite></testsuite>';
    expect(collectResults(readJunit(xml), new ListedFiles(['a.rb'])).byFile.get('a.rb')).toEqual({
      seconds: 6,
      isFailed: false,
      hasRun: true,
    });
  });

  it('exclude unknown files, whose cases are listed', () => {
    const { byFile, unmatched } = collectResults(readJunit(readFixture('rspec')), new ListedFiles(['spec/user_spec.rb']));
    expect([...byFile.keys()]).toEqual(['spec/user_spec.rb']);
    expect(unmatched.map(({ name }) => name)).toEqual(['Cart is empty', 'Cart adds items']);
  });
});

describe('a path that a report names', () => {
  const known = new ListedFiles(['a/x.test.js', 'b/x.test.js', './c/y.test.js', 'z.py']);
  it.each([
    ['as it was listed', 'a/x.test.js', 'a/x.test.js'],
    ['written in another way', './/b//x.test.js', 'b/x.test.js'],
    ['listed with a dot', 'c/y.test.js', './c/y.test.js'],
    ['absolute', '/home/ci/app/a/x.test.js', 'a/x.test.js'],
    ['of Windows', 'C:\\app\\c\\y.test.js', './c/y.test.js'],
    ['that may be two', 'x.test.js', null],
    ['of another folder', 'd/y.test.js', null],
    ['with a name that only ends alike', 'yz.py', null],
    ['from a folder beside it', '../b/x.test.js', 'b/x.test.js'],
  ])('%s is found by its ending, or not at all', (_, reported, found) => {
    expect(known.find(reported)).toBe(found);
  });

  it('that is another known file does not match a file with a similar ending', () => {
    const batch = new ListedFiles(['a.test.js', 'services/b/tests/test_x.py'], ['pkg/a.test.js', 'services/a/tests/test_x.py']);
    expect(['a.test.js', 'pkg/a.test.js', 'tests/test_x.py'].map(path => batch.find(path))).toEqual([
      'a.test.js',
      'pkg/a.test.js',
      'services/b/tests/test_x.py',
    ]);
  });

  it.each([
    ['with spaces and quotes', '', 'it\'s.with space.test_q"', 'it\'s/with space/test_q".py'],
    ['in a folder with a dot', '', 'tests.v1.2.test_x.TestX', 'tests/v1.2/test_x.py'],
    ['in one, from another folder on', '', 'app.tests.v1.2.test_x.TestX', 'tests/v1.2/test_x.py'],
    ['of which it inherits', ' file="tests/base.py"', 'tests.unit.test_cart.TestCart', 'tests/unit/test_cart.py'],
  ])('names a Python module %s', (_, file, classname, expected) => {
    const testCase = readJunit(`<testsuite><testcase classname="${classname.replaceAll('"', '&quot;')}"${file} name="a"/></testsuite>`);
    expect([...collectResults(testCase, new ListedFiles([expected, 'tests/base.py'])).byFile.keys()]).toEqual([expected]);
  });

  it('does not match a module of the same name in another package', () => {
    const testCase = readJunit('<testsuite><testcase classname="other.unit.test_cart" name="a"/></testsuite>');
    expect(collectResults(testCase, new ListedFiles(['app/other.py', 'test_cart.py'])).byFile.size).toBe(1);
    expect(collectResults(testCase, new ListedFiles(['app/other.py'])).byFile.size).toBe(0);
  });
});
