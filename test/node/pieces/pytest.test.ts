import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { pytest } from '../../../src/node/pieces/pytest.js';
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
  'TestUnit::test_expected': 'expected_failure',
  test_teardown: 'failed',
  test_xfail: 'expected_failure',
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
    expect(gone).toMatchObject({ code: 5, report: { cases: [], listed: new Set(['test_new', 'test_one', 'test_renamed']) } });
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
    const { output, report } = await suite.run('test_a.py', { cases: [] }, ['-v', '--import-mode=importlib', 'tests']);
    expect(report?.cases).toEqual([]);
    expect(output).toMatch(/2 passed, 1 deselected/);
  });

  it('tell a case that calls pytest.xfail, or skips its subtests', async () => {
    const suite = project({
      'test_a.py': `
import pytest, unittest
ready = []
def test_one(): ready.append(1)
def test_two():
    if not ready: pytest.xfail('needs one')
@pytest.fixture
def checked():
    yield
    if not ready: pytest.xfail('needs one')
def test_three(checked): pass
class TestFour(unittest.TestCase):
    def test_four(self):
        with self.subTest():
            if not ready: self.skipTest('needs one')
`,
    });
    const outcomes = ({ report }: Awaited<ReturnType<typeof suite.run>>) =>
      Object.fromEntries(report!.cases.map(({ name, outcomes }) => [name, outcomes]));
    const [whole, rest] = [outcomes(await suite.run('test_a.py', null)), outcomes(await suite.run('test_a.py', { others: ['test_one'] }))];
    expect(whole).toMatchObject({ test_two: { passed: 1 }, test_three: { passed: 1 } });
    expect(rest).toMatchObject({ test_two: { expected_failure: 1 }, test_three: { expected_failure: 1 } });
    expect(whole['TestFour::test_four']!.skipped).toBeUndefined();
    expect(rest['TestFour::test_four']!.skipped).toBe(1);
  });

  it.each([
    ['removes all temporary files', `import glob, shutil\ndef test_one():\n    for path in glob.glob("it's*"): shutil.rmtree(path)\n`],
    ['fills the disk', 'import resource\ndef test_one(): resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))\n'],
    ['ends the process', 'import os\ndef test_one(): os._exit(0)\n'],
  ])('tell nothing, and change no exit code, if a test %s', async (_, content) => {
    const suite = project({ 'test_a.py': content });
    const { code, report, output } = await suite.run('test_a.py', { cases: ['test_one'] }, ['-p', 'no:cacheprovider']);
    expect({ code, report }, output).toEqual({ code: 0, report: undefined });
  });

  it('tell each case once if a test forks the process or changes its folder', async () => {
    const suite = project({
      'test_a.py': `
import os, sys
def test_one():
    process = os.fork()
    if process == 0: sys.exit(0)
    os.waitpid(process, 0)
def test_two(): os.chdir('/')
`,
    });
    const { report } = await suite.run('test_a.py', null);
    expect(report!.cases.map(({ name, outcomes }) => ({ name, outcomes }))).toEqual([
      { name: 'test_one', outcomes: { passed: 1 } },
      { name: 'test_two', outcomes: { passed: 1 } },
    ]);
  });

  it('run the whole file if they cannot be read', async () => {
    const suite = project({ 'test_a.py': 'def test_one(): pass\ndef test_two(): pass\n' });
    await suite.expectWholeWithoutPiece('test_a.py', ['test_one', 'test_two']);
  });

  it('tell nothing of a file that cannot be collected, and no cases of one that skips itself', async () => {
    const suite = project({
      'test_a.py': 'import nothing_like_this\n',
      'test_b.py': 'import pytest\npytest.skip("no", allow_module_level=True)\n',
    });
    expect(await suite.run('test_a.py', { others: [] })).toMatchObject({ code: 2, report: undefined });
    expect((await suite.run('test_b.py', { others: [] })).report).toEqual({ cases: [], listed: new Set() });
  });
});
