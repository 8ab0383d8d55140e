import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { pytest } from '../../../src/client/pieces/pytest.js';
import { PieceProject, ran } from './piece-project.js';

const has = (python: string, module: string) => spawnSync(python, ['-c', `import pytest, ${module}`]).status === 0;
const findPython = (module: string) => ['python3', '/usr/bin/python3'].find(python => has(python, module));
const python = findPython('json');
const withXdist = findPython('xdist');
const withReruns = findPython('xdist, pytest_rerunfailures');

const project = (files: Readonly<Record<string, string>>, program = python!, ...args: string[]) =>
  new PieceProject(pytest, [program, '-m', 'pytest', ...args], files);

const HOSTILE = {
  'test_base.py': `
class TestBase:
    def test_inherited(self): pass
    def test_overridden(self): assert False
`,
  'tests/test_hostile.py': `
import os, sys, unittest
import pytest
sys.path.insert(0, os.getcwd())
import test_base

@pytest.mark.parametrize('value', ["it's", 'a"b', 'a\\nb', '[a]', 'a[0]', '$HOME', '\`id\`', 'ünï€', '日本', 'a::b', 'a@b', ' ', '', '\\\\', '*', 'same', 'same'])
def test_value(value): pass

class TestOne(test_base.TestBase):
    def test_name(self): pass
    class TestInner:
        def test_name(self): pass
class TestTwo(test_base.TestBase):
    def test_name(self): pass
    def test_overridden(self): pass

class TestUnit(unittest.TestCase):
    def test_name(self):
        for i in range(3):
            with self.subTest(i=i): pass
    @unittest.skip('no')
    def test_skipped(self): pass
    @unittest.expectedFailure
    def test_expected(self): assert False

def doc():
    """
    >>> 1 + 1
    2
    """

@pytest.fixture(scope='module', params=['p', 'q'])
def shared(request): return request.param
def test_shared(shared): pass
def test_shared_too(shared): pass

@pytest.fixture
def breaks():
    yield
    assert False
def test_teardown(breaks): pass
@pytest.mark.xfail
def test_xfail(): assert False
@pytest.mark.xfail
def test_xpass(): pass
@pytest.mark.xfail(strict=True)
def test_strict(): pass
def test_skips(): pytest.skip('no')
@pytest.mark.xdist_group('group')
def test_grouped(): pass
def test_environment():
    assert 'PYTEST_ADDOPTS' not in os.environ and 'folder' not in os.environ.get('PYTHONPATH', '')
`,
};

const OUTCOMES = {
  'test_hostile.doc': 'passed',
  "test_value[it's]": 'passed',
  'test_value[a\\nb]': 'passed',
  'test_value[a::b]': 'passed',
  'test_value[same1]': 'passed',
  'TestOne::test_inherited': 'passed',
  'TestOne::test_overridden': 'failed',
  'TestTwo::test_overridden': 'passed',
  'TestOne::TestInner::test_name': 'passed',
  'TestUnit::test_skipped': 'skipped',
  'TestUnit::test_expected': 'passed',
  test_teardown: 'failed',
  test_xfail: 'passed',
  test_xpass: 'passed',
  test_strict: 'failed',
  test_skips: 'skipped',
  test_grouped: 'passed',
  test_environment: 'passed',
};

const MISSING = 'the tests of pieces of pytest do not run: no python3 has pytest; "apt-get install python3-pytest" installs it';
if (!python) {
  process.stderr.write(`\n  ${MISSING}\n\n`);
  it.skip(MISSING);
}

describe.skipIf(!python)('pieces of pytest', { timeout: 120_000 }, () => {
  it('run each case of a file once, whatever it is named', async () => {
    const outcomes = await project(HOSTILE, python, '--doctest-modules').expectSamePieces('tests/test_hostile.py');
    expect(outcomes).toMatchObject(OUTCOMES);
    expect(Object.keys(outcomes)).toHaveLength(39);
  });

  it.skipIf(!withXdist)('have the same cases in workers of pytest-xdist, in groups too', async () => {
    const args = ['-p', 'xdist', '-n', '2', '--dist', 'loadgroup', '--doctest-modules'];
    const outcomes = await project(HOSTILE, withXdist, ...args).expectSamePieces('tests/test_hostile.py');
    expect(outcomes).toMatchObject(OUTCOMES);
    expect(Object.keys(outcomes)).toHaveLength(39);
  });

  it.skipIf(!withReruns)('count the last attempt of a case that is run again', async () => {
    const flaky =
      'attempts = []\ndef test_flaky():\n    attempts.append(1)\n    assert len(attempts) > 1\ndef test_failing(): assert False\n';
    const suite = project({ 'test_a.py': flaky }, withReruns, '-p', 'xdist', '-p', 'pytest_rerunfailures', '--reruns', '1');
    expect(await suite.expectSamePieces('test_a.py')).toEqual({ test_flaky: 'passed', test_failing: 'failed' });
  });

  it('leave new and renamed cases to the rest', async () => {
    const suite = project({ 'test_a.py': 'def test_new(): pass\ndef test_one(): pass\ndef test_renamed(): pass\n' });
    expect(ran(await suite.run('test_a.py', { cases: ['test_one'] }))).toEqual(['test_one']);
    expect(ran(await suite.run('test_a.py', { others: ['test_one', 'test_two'] }))).toEqual(['test_new', 'test_renamed']);
    const gone = await suite.run('test_a.py', { cases: ['test_two'] });
    expect(gone).toMatchObject({ code: 5, told: { cases: [], listed: new Set(['test_new', 'test_one', 'test_renamed']) } });
    expect(gone.output).toContain('3 deselected');
  });

  it('choose among what other options choose, and tell only that', async () => {
    const suite = project({ 'test_a.py': 'def test_one(): pass\ndef test_two(): pass\ndef test_three(): pass\n' });
    const args = ['-k', 'not two'];
    expect(await suite.expectSamePieces('test_a.py', args)).toEqual({ test_one: 'passed', test_three: 'passed' });
    expect(ran(await suite.run('test_a.py', { cases: ['test_one', 'test_two'] }, args))).toEqual(['test_one']);
  });

  it('do not touch other files', async () => {
    const suite = project(
      { 'test_a.py': 'def test_one(): pass\n', 'tests/test_a.py': 'def test_one(): pass\ndef test_two(): pass\n' },
      python,
    );
    const { output, told } = await suite.run('test_a.py', { cases: [] }, ['-v', '--import-mode=importlib', 'tests']);
    expect(told?.cases).toEqual([]);
    expect(output).toMatch(/2 passed, 1 deselected/);
  });

  it('tell nothing of a file that cannot be collected, and no cases of one that skips itself', async () => {
    const suite = project({
      'test_a.py': 'import nothing_like_this\n',
      'test_b.py': 'import pytest\npytest.skip("no", allow_module_level=True)\n',
    });
    expect(await suite.run('test_a.py', { others: [] })).toMatchObject({ code: 2, told: undefined });
    expect((await suite.run('test_b.py', { others: [] })).told).toEqual({ cases: [], listed: new Set() });
  });
});
