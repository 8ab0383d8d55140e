import { describe, expect, it } from 'vitest';
import { findFile } from '../../../src/node/reports/find-file.js';
import { ListedFiles } from '../../../src/node/reports/known-files.js';
import { collectResults } from '../../../src/node/reports/report-results.js';
import { emptyCase } from '../../../src/node/reports/test-case.js';
import { readJunit } from '../../../src/node/reports/xml/junit.js';
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
    ['Surefire, classes in a list', 'surefire', { 'c.OtherTest': '0.167' }, ['a.b.CartTest']],
    ['Surefire, classes in the suite of a nested class', 'surefire-nested', { 'a.b.CartTest': '0.907' }, ['c.OtherTest']],
    ['Surefire, files', 'surefire-nested', { 'core/src/test/java/a/b/CartTest.java': '0.907' }, ['core/src/test/java/b/CartTest.java']],
    [
      'Gradle, files of Kotlin',
      'gradle-nested',
      { 'src/test/kotlin/a/b/CartTest.kt': '0.500 failed' },
      ['src/test/kotlin/a/b/UserTest.kt'],
    ],
    ['nextest', 'nextest', { shop: '0.012', 'shop::api': '1.750 failed', 'shop::bin/shop': '0.150' }, ['shop::web']],
    ['SwiftPM', 'swift', { 'ShopTests.CartTests': '0.750 failed', 'ShopTests.UserTests': '0.125' }, ['ShopTests.OrderTests']],
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

describe('a class that a report names', () => {
  const known = new ListedFiles(
    [
      'core/src/test/java/a/b/CartTest.java',
      'web/src/test/groovy/a/b/PageTest.groovy',
      'api/src/test/scala-3/a/b/PageTest.scala',
      'javatests/com/shop/UserTest.java',
      'javatests/com/shop/old/UserTest.java',
      'it/one/com/shop/OrderTest.kt',
      'it/two/com/shop/OrderTest.kt',
      'a.b.Listed',
      'a.b.Listed$Inner',
    ],
    ['web/src/test/java/a/b/CartTest.java', 'web/src/test/java/a/b/OtherTest.java', 'new/com/shop/UserTest.java', 'a.b.Elsewhere'],
  );
  const found = (classname: string) => findFile({ ...emptyCase, classname }, known);

  it.each([
    ['in the layout of Maven', 'a.b.CartTest', 'core/src/test/java/a/b/CartTest.java'],
    ['nested', 'a.b.CartTest$Inner', 'core/src/test/java/a/b/CartTest.java'],
    ['nested deeper', 'a.b.CartTest$Inner$Deep', 'core/src/test/java/a/b/CartTest.java'],
    ['of Scala, an object', 'a.b.CartTest$', 'core/src/test/java/a/b/CartTest.java'],
    ['of a part of the package', 'b.CartTest', null],
    ['of a longer package', 'x.a.b.CartTest', null],
    ['without a package', 'CartTest', null],
    ['in two modules', 'a.b.PageTest', null],
    ['below an unknown source root', 'com.shop.UserTest', 'javatests/com/shop/UserTest.java'],
    ['below one, in a package of its own', 'com.shop.old.UserTest', 'javatests/com/shop/old/UserTest.java'],
    ['below two unknown source roots', 'com.shop.OrderTest', null],
    ['of another batch', 'a.b.OtherTest', 'web/src/test/java/a/b/OtherTest.java'],
    ['of another batch, with the ending of one of this', 'new.com.shop.UserTest', 'new/com/shop/UserTest.java'],
    ['in the list', 'a.b.Listed', 'a.b.Listed'],
    ['in the list, nested', 'a.b.Listed$Inner', 'a.b.Listed$Inner'],
    ['in the list, nested in .NET', 'a.b.Listed+Other', 'a.b.Listed'],
    ['in the list, of another batch', 'a.b.Elsewhere$Inner', 'a.b.Elsewhere'],
    ['unknown', 'a.b.Unknown', null],
    ['of nothing but a dollar sign', '$', null],
    ['with a name of a megabyte', `a.b.${'$'.repeat(1_000_000)}`, null],
  ])('%s is found, or not at all', (_, classname, file) => {
    expect(found(classname)).toBe(file);
  });

  it('is neither a module of Python nor a class if it could be both', () => {
    const both = new ListedFiles(['tests/Cart.java', 'tests/Cart.py']);
    expect(findFile({ ...emptyCase, classname: 'tests.Cart' }, both)).toBeNull();
  });
});

describe('a name that is no path', () => {
  const listed = ['shop', 'shop::api', '//cart:cart_test', '//web/ui:page_test', '//:all_test', 'ShopTests.CartTests'];
  it.each([
    ['shop::api', 'shop::api'],
    ['shop::bin/shop', null],
    ['other::bin/shop', null],
    ['api', null],
    ['//cart:cart_test', '//cart:cart_test'],
    ['//other/cart:cart_test', null],
    ['cart/cart_test', '//cart:cart_test'],
    ['web/ui/page_test', '//web/ui:page_test'],
    ['ui/page_test', null],
    ['all_test', '//:all_test'],
    ['CartTests', null],
    ['ShopTests.CartTests', 'ShopTests.CartTests'],
  ])('is found in full or not at all: %s', (name, file) => {
    const suite = { name, seconds: 0 };
    expect(findFile({ ...emptyCase, suite }, new ListedFiles(listed))).toBe(file);
    expect(findFile({ ...emptyCase, classname: name }, new ListedFiles(listed))).toBe(file);
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
