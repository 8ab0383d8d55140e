import { basename, dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { ListedFiles } from '../../../src/node/reports/known-files.js';
import { SuiteTimes } from '../../../src/node/reports/suite-times.js';

/** The times that a report of these paths leaves. */
function collectTimes(reported: Record<string, number>, root = '/home/ci/app', known: readonly string[] | null = null): SuiteTimes {
  const suite = new SuiteTimes({ root, known: known && new ListedFiles(known), cases: false });
  const tell = suite.timeCollector('junit');
  for (const [path, seconds] of Object.entries(reported)) tell(path, seconds);
  return suite;
}

const timesOf = (suite: SuiteTimes) => Object.fromEntries(suite.times());

describe('the times of a suite', () => {
  it('are added up by file, over test cases and reports', () => {
    const suite = collectTimes({
      'a_spec.rb[1:1]': 0.1,
      './a_spec.rb': 0.2,
      'b.feature:12': 1,
      'b.feature:30': 2,
      'c.py::TestC::test_d': 4,
    });
    expect(timesOf(suite)).toEqual({ 'a_spec.rb': 0.3, 'b.feature': 3, 'c.py': 4 });
  });

  it('of a path in two timing tables are their mean, for each test case', () => {
    const suite = new SuiteTimes({ root: '/', known: null, cases: false });
    for (const table of [
      { 'a.py::test_1': 1, 'a.py::test_2': 4 },
      { 'a.py::test_1': 3, 'a.py::test_3': 10 },
    ]) {
      const tell = suite.timeCollector('pytest-split');
      for (const [path, seconds] of Object.entries(table)) tell(path, seconds);
    }
    expect(timesOf(suite)).toEqual({ 'a.py': 2 + 4 + 10 });
  });

  it('have paths as clients write them', () => {
    const suite = collectTimes({ 'spec/../a//b_spec.rb[1:2]': 1, 'cypress\\e2e\\c.cy.js': 1, 'tests/d.py::test[x//y\\z]': 1 });
    expect([...suite.times().keys()]).toEqual(['a/b_spec.rb', 'cypress/e2e/c.cy.js', 'tests/d.py']);
  });

  it('are limited to the known test files, if given, and list the others', () => {
    const suite = collectTimes({ '/ci/app/web/a.spec.ts': 1, 'b.spec.ts': 2, 'x.spec.ts': 4, 'c.py::test_1': 8 }, '/', [
      'web/a.spec.ts',
      'web/e2e/b.spec.ts',
      'api/c.py',
      'web/x.spec.ts',
      'api/x.spec.ts',
    ]);
    expect(timesOf(suite)).toEqual({ 'web/a.spec.ts': 1, 'web/e2e/b.spec.ts': 2, 'api/c.py': 8 });
    expect(suite.skipped.entries).toEqual([
      { reason: 'it matches no file of --files-from, or several', count: 1, examples: ['x.spec.ts'] },
    ]);
  });

  it('guess the root by a file that also exists here', () => {
    const { url } = import.meta;
    const here = dirname(fileURLToPath(url));
    expect(collectTimes({ [`/builds/shop/${basename(here)}/${basename(fileURLToPath(url))}`]: 1 }, dirname(here)).endReport()).toContain(
      'with --root (judging by the files in this folder: --root /builds/shop)',
    );
  });

  it('have relative paths below the root, also on Windows', () => {
    expect(timesOf(collectTimes({ '/home/ci/app/src/a.test.js': 1 }, '/home/ci/app/'))).toEqual({ 'src/a.test.js': 1 });
    expect(timesOf(collectTimes({ 'C:\\ci\\app\\src\\a.test.js': 1 }, 'C:\\ci\\app'))).toEqual({ 'src/a.test.js': 1 });
  });

  it('suggest a folder if no path is below the root', () => {
    const suite = collectTimes(
      { '/home/ci/app/src/a.test.js': 1, '/home/ci/app/src/deep/b.test.js': 1, '/home/ci/apple/c.test.js': 1 },
      '/home/me',
    );
    expect(suite.endReport()).toBe(
      'all of its paths are absolute and not below /home/me, such as /home/ci/app/src/a.test.js: name the folder that the test files are relative to with --root (all of them are below /home/ci)',
    );
    suite.timeCollector('junit')('a.test.js', 1);
    expect(suite.endReport()).toBeNull();
  });

  it('leave out a file of a library', () => {
    const suite = collectTimes({ 'test/a_test.rb': 1, '/home/ci/.rbenv/gems/minitest-rails/dsl.rb': 1 });
    expect(suite.endReport()).toBeNull();
    expect([...suite.times().keys()]).toEqual(['test/a_test.rb']);
    expect(suite.skipped.entries).toEqual([
      {
        reason: 'its path is absolute and not below /home/ci/app (--root)',
        count: 1,
        examples: ['/home/ci/.rbenv/gems/minitest-rails/dsl.rb'],
      },
    ]);
  });

  it('leave out invalid times, which are counted by reason', () => {
    const suite = collectTimes({
      'a.rb': NaN,
      'b.rb': -1,
      'c.rb': 86_401,
      'd.rb': 0,
      'e.rb': 0,
      'f.rb': 0,
      'g.rb': 0,
      x: 1,
      'h.rb': 1,
      'k\ufffdse.rb': 1,
    });
    expect(timesOf(suite)).toEqual({ 'h.rb': 1 });
    expect(suite.skipped.entries).toEqual([
      { reason: 'it has no time', count: 1, examples: ['a.rb'] },
      { reason: 'its time is negative', count: 1, examples: ['b.rb'] },
      { reason: 'its time is more than a day: times must be in seconds', count: 1, examples: ['c.rb'] },
      { reason: 'it took 0 s: it was not run', count: 4, examples: ['d.rb', 'e.rb', 'f.rb'] },
      { reason: 'the path does not have 3 to 4096 characters', count: 1, examples: ['x'] },
      { reason: 'its path is not in the encoding that the report declares', count: 1, examples: ['k\ufffdse.rb'] },
    ]);
  });
});
