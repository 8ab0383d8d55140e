import { describe, expect, it } from 'vitest';
import { SuiteTimes } from '../../src/reports/suite-times.js';

function suiteOf(reported: readonly [string, number][], root = '/home/ci/app', cases = false): SuiteTimes {
  const suite = new SuiteTimes({ root, cases });
  for (const [path, seconds] of reported) suite.tell(path, seconds);
  return suite;
}

describe('the times of a suite', () => {
  it('are added up by file, over test cases and reports', () => {
    const suite = suiteOf([['a_spec.rb[1:1]', 0.1], ['./a_spec.rb', 0.2], ['b.feature:12', 1], ['b.feature:30', 2], ['c.py::TestC::test_d', 4]]);
    expect([...suite.times()]).toEqual([['a_spec.rb', 0.3], ['b.feature', 3], ['c.py', 4]]);
  });

  it('have no absolute paths where they are below the root, of Windows either', () => {
    expect([...suiteOf([['/home/ci/app/src/a.test.js', 1]], '/home/ci/app/').times().keys()]).toEqual(['src/a.test.js']);
    expect([...suiteOf([['C:\\ci\\app\\src\\a.test.js', 1]], 'C:\\ci\\app').times().keys()]).toEqual(['src/a.test.js']);
  });

  it('say which folder could be meant where none of them is', () => {
    const suite = suiteOf([['/home/ci/app/src/a.test.js', 1], ['/home/ci/app/src/deep/b.test.js', 1], ['/home/ci/apple/c.test.js', 1]], '/home/me');
    expect(suite.endReport()).toBe(
      'all of its 3 paths are absolute and not below /home/me, such as /home/ci/app/src/a.test.js: name the folder that the test files are relative to with --root (all of them are below /home/ci)',
    );
    suite.tell('a.test.js', 1);
    expect(suite.endReport()).toBeNull();
  });

  it('leave out a file of a library', () => {
    const suite = suiteOf([['test/a_test.rb', 1], ['/home/ci/.rbenv/gems/minitest-rails/dsl.rb', 1]]);
    expect(suite.endReport()).toBeNull();
    expect([...suite.times().keys()]).toEqual(['test/a_test.rb']);
    expect(suite.leftovers.all).toEqual([{ reason: 'its path is absolute and not below /home/ci/app (--root)', count: 1, examples: ['/home/ci/.rbenv/gems/minitest-rails/dsl.rb'] }]);
  });

  it('are without what cannot be a time, which is counted and told', () => {
    const suite = suiteOf([['a.rb', NaN], ['b.rb', -1], ['c.rb', 86_401], ['d.rb', 0], ['e.rb', 0], ['f.rb', 0], ['g.rb', 0], ['x', 1], ['h.rb', 1]]);
    expect([...suite.times()]).toEqual([['h.rb', 1]]);
    expect(suite.leftovers.all).toEqual([
      { reason: 'it has no time', count: 1, examples: ['a.rb'] },
      { reason: 'its time is negative', count: 1, examples: ['b.rb'] },
      { reason: 'it took more than a day: is that seconds?', count: 1, examples: ['c.rb'] },
      { reason: 'it took 0 s: it was not run', count: 4, examples: ['d.rb', 'e.rb', 'f.rb'] },
      { reason: 'the path has not 3 to 4096 characters', count: 1, examples: ['x'] },
    ]);
  });
});
