import { expect, it } from 'vitest';
import { ListedFiles } from '../../../src/node/reports/known-files.js';
import { emptyCase, type TestCase } from '../../../src/node/reports/test-case.js';
import { describeUnmatched } from '../../../src/node/reports/unmatched.js';

const named = (more: Partial<TestCase>): TestCase => ({ ...emptyCase, ...more });

it.each<[string, Partial<TestCase>[], string[], string]>([
  ['the file of a case', [{ file: 'x.js', name: 'adds' }], ['a.js'], '"x.js"; the list has "a.js"'],
  [
    'its suite and class, each once',
    [{ suite: { name: 'S', seconds: 0 }, classname: 'C' }, { classname: 'C' }],
    ['a.js'],
    '"S", "C"; the list has "a.js"',
  ],
  ['its title if it has no other name', [{ name: 'adds' }], ['a.js'], '"adds"; the list has "a.js"'],
  [
    'a class that could be in several files',
    [{ classname: 'x.Test' }, { classname: 'a.CartTest$Inner' }],
    ['core/src/test/java/a/CartTest.java', 'web/src/test/kotlin/a/CartTest.kt'],
    '"x.Test", "a.CartTest$Inner"; the list has "core/src/test/java/a/CartTest.java", "web/src/test/kotlin/a/CartTest.kt"; "a.CartTest$Inner" could be "core/src/test/java/a/CartTest.java", "web/src/test/kotlin/a/CartTest.kt"',
  ],
  [
    'a path that could be several',
    [{ file: 'x.js' }],
    ['a/x.js', 'b/x.js', 'c/x.js', 'd/x.js'],
    '"x.js"; the list has "a/x.js", "b/x.js", "c/x.js" and 1 more; "x.js" could be "a/x.js", "b/x.js", "c/x.js" and 1 more',
  ],
])('what a report names in vain is told with the list: %s', (_, cases, paths, text) => {
  expect(describeUnmatched(cases.map(named), new ListedFiles(paths))).toBe(text);
});
