import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { goTest } from '../../../src/node/pieces/go-test.js';
import { jest } from '../../../src/node/pieces/jest.js';
import type { NamingRunner } from '../../../src/node/pieces/named-cases.js';
import { phpunit } from '../../../src/node/pieces/phpunit.js';
import type { Piece, Selection } from '../../../src/node/pieces/piece.js';
import { playwright } from '../../../src/node/pieces/playwright.js';
import { vitest } from '../../../src/node/pieces/vitest.js';
import { emptyCase, type TestCase } from '../../../src/node/reports/test-case.js';
import { temporaryFolder } from '../../harness/temporary-folder.js';

const piece = (cases: readonly string[], others: readonly string[] | null = null, file = 'a.test.ts'): Piece => ({
  path: 'piece',
  file,
  cases,
  others,
  outcomes: new Map(),
  isTrial: false,
});

const select = (runner: NamingRunner, wanted: Piece | null, folder = '/'): Selection | null => runner.select(wanted, folder, {});

const argumentOf = (selection: Selection | null): string => selection!.args[0]!.replace(/^-[-\w]*=/, '');

const caseOf = (name: string, more: Partial<TestCase> = {}): TestCase => ({ ...emptyCase, name, ...more });

const report = (runner: NamingRunner, cases: readonly TestCase[], file = 'a.test.ts') =>
  runner.reportsOf([file, 'unreported.test.ts'], new Map([[file, cases]]), '/').get(file);

const HOSTILE = [
  'plain',
  'Plain two',
  'a > b',
  '(?:',
  '[a-z]+',
  '^$.*+?()[]{}|\\/',
  'a|b',
  `"double" 'single' \`back\``,
  'ünïcödé ß 日本語 😀',
  '$& $1 %s',
  '__proto__',
  '--flag',
  '',
];

describe.each([
  ['vitest', vitest, ''],
  ['jest', jest, 'i'],
] as const)('an expression for %s', (_, runner, flags) => {
  const expression = (wanted: Piece) => new RegExp(argumentOf(select(runner, wanted)), flags);

  it('matches the names of its cases, and the rest all others', () => {
    for (const name of HOSTILE) {
      const others = HOSTILE.filter(each => each !== name);
      expect(expression(piece([name])).test(name), name).toBe(true);
      expect(expression(piece([name], others)).test(name), name).toBe(true);
      for (const other of others) expect(expression(piece([name])).test(other), `${name} and ${other}`).toBe(false);
    }
    for (const name of HOSTILE) expect(expression(piece([], HOSTILE)).test(name), name).toBe(false);
    for (const name of ['new', 'plain plain', 'xplain', 'plain\nnew', 'Plain']) {
      const isSelected = expression(piece(HOSTILE)).test(name);
      expect(expression(piece([], HOSTILE)).test(name), name).toBe(!isSelected);
      expect(isSelected, name).toBe(name === 'Plain' && flags === 'i');
    }
  });

  it('matches names that are joined in another way, and white space that XML does not keep', () => {
    const selected = expression(piece(['suite > inner suite > has line']));
    for (const name of ['suite inner suite has line', 'suite inner suite has\nline', ' suite  inner suite \u203a has\tline '])
      expect(selected.test(name), name).toBe(true);
    expect(selected.test('suite inner suite')).toBe(false);
  });

  it('writes the same beginnings of names once', () => {
    const names = Array.from({ length: 2_000 }, (_, i) => `a suite with a long name > and another within it > case ${i}`);
    expect(argumentOf(select(runner, piece([], names))).length).toBeLessThan(20_000);
    const growing = Array.from({ length: 120 }, (_, i) => 'x '.repeat(i + 1));
    const selected = expression(piece(growing));
    for (const name of growing) expect(selected.test(name)).toBe(true);
    expect(selected.test('x '.repeat(121))).toBe(false);
  });

  it('is none if it is too long, and not given for whole files and pieces without others', () => {
    expect(
      select(
        runner,
        piece(
          [],
          [...Array(2_000).keys()].map(i => `${i} is a case with a name that begins as no other`),
        ),
      ),
    ).toBeNull();
    for (const whole of [null, piece(['a'], [])]) expect(select(runner, whole)).toEqual({ args: [], environment: {} });
  });
});

describe('cases of vitest', () => {
  const file = { name: 'a.test.ts', seconds: 0 };

  it('are all cases of the file, once for each name that an expression can tell apart', () => {
    const cases = [
      caseOf('suite > b', { suite: file, seconds: 1 }),
      caseOf('suite b', { suite: file, seconds: 2, isFailed: true }),
      caseOf('not selected', { suite: file, isSkipped: true }),
      caseOf('Suite b', { suite: file, seconds: 4 }),
    ];
    for (const order of [cases, cases.toReversed()]) {
      const { cases: merged, listed } = report(vitest, order)!;
      expect(merged.toSorted((a, b) => a.seconds - b.seconds)).toEqual([
        { name: 'not selected', seconds: 0, outcomes: { skipped: 1 } },
        { name: 'suite > b', seconds: 3, outcomes: { passed: 1, failed: 1 } },
        { name: 'Suite b', seconds: 4, outcomes: { passed: 1 } },
      ]);
      expect(listed).toEqual(new Set(['suite > b', 'not selected', 'Suite b']));
    }
  });

  it('are none for a file that could not be loaded, and for names that no command can have', () => {
    expect(report(vitest, [caseOf('a.test.ts', { suite: file, isFailed: true })])).toBeUndefined();
    expect(report(vitest, [caseOf('', { suite: file }), caseOf('a\0b'), caseOf('\ud800')])).toBeUndefined();
  });
});

it('joins the class and the name of a case of jest-junit if the class has the suites only', () => {
  const names = (testCase: TestCase) => report(jest, [testCase])!.cases.map(({ name }) => name);
  expect(names(caseOf('suite in', { classname: 'suite in' }))).toEqual(['suite in']);
  expect(names(caseOf('in', { classname: 'suite' }))).toEqual(['suite in']);
  expect(names(caseOf('suite in', { classname: 'a.test.ts' }))).toEqual(['suite in']);
  expect(names(caseOf('suite in'))).toEqual(['suite in']);
});

it('takes names of Jest that differ by the case of letters for one', () => {
  expect(report(jest, [caseOf('the name', { seconds: 1 }), caseOf('The name', { seconds: 2, isSkipped: true })])).toEqual({
    cases: [{ name: 'The name', seconds: 3, outcomes: { passed: 1, skipped: 1 } }],
    listed: new Set(['The name']),
  });
});

describe('a list for Playwright', () => {
  function project(content: string) {
    const folder = temporaryFolder();
    const file = join(folder, 'a.spec.ts');
    writeFileSync(file, content);
    return { folder, file };
  }

  it('has a line for each case and each folder that its paths may be relative to', () => {
    const { folder, file } = project('');
    const selection = select(playwright, piece(['a › b', '[x] > #', 'two\nlines', ' spaces', 'a ›  › c '], null, file), folder);
    expect(selection).toEqual({ args: ['--test-list', join(folder, 'cases.txt')], environment: {} });
    const lines = readFileSync(join(folder, 'cases.txt'), 'utf8').split('\n');
    expect(lines).toEqual(expect.arrayContaining(['a.spec.ts › a › b', 'a.spec.ts › [x] > #', `${file.slice(1)} › a › b`]));
    expect(lines.filter(line => !/ › (a › b|\[x\] > #)$/.test(line))).toEqual(['']);
  });

  it('is the same for the rest, which does not run it', () => {
    const { folder, file } = project('');
    select(playwright, piece(['a', 'b'], null, file), folder);
    const list = readFileSync(join(folder, 'cases.txt'), 'utf8');
    expect(select(playwright, piece([], ['a', 'b'], file), folder)!.args).toEqual(['--test-list-invert', join(folder, 'cases.txt')]);
    expect(readFileSync(join(folder, 'cases.txt'), 'utf8')).toBe(list);
  });

  it('is none for a file with a serial suite, whose cases are not reported', () => {
    const { folder, file } = project(`test.describe.configure({ mode: 'serial' });`);
    expect(select(playwright, piece(['a'], null, file), folder)).toBeNull();
    expect(report(playwright, [caseOf('a')], file)).toBeUndefined();
    const parallel = project('');
    expect(report(playwright, [caseOf('a › b'), caseOf(' spaces'), caseOf('two\nlines')], parallel.file)).toEqual({
      cases: [{ name: 'a › b', seconds: 0, outcomes: { passed: 1 } }],
      listed: null,
    });
  });
});

describe('go test', () => {
  it('runs functions by their whole names, and the rest without them', () => {
    const functions = ['TestA', 'TestAB', 'Test', 'TestÜ', 'Example_b', 'FuzzC'];
    const [run] = select(goTest, piece(functions))!.args;
    const [skip] = select(goTest, piece([], functions))!.args;
    expect([run, skip]).toEqual([expect.stringMatching(/^-run=\^/), expect.stringMatching(/^-skip=\^/)]);
    expect(run!.slice('-run='.length)).toBe(skip!.slice('-skip='.length));
    const expression = new RegExp(run!.slice('-run='.length));
    for (const name of functions) expect(expression.test(name), name).toBe(true);
    for (const name of ['TestABC', 'TestAb', 'xTest', 'Example', 'Fuzz']) expect(expression.test(name), name).toBe(false);
  });

  it('tells functions, with their time, and how many of their subtests ended in each way', () => {
    expect(
      report(goTest, [
        caseOf('TestA/sub', { seconds: 1 }),
        caseOf('TestA/sub/inner', { isSkipped: true }),
        caseOf('TestA', { seconds: 2, isFailed: true }),
        caseOf(''),
        caseOf('BenchmarkB'),
      ]),
    ).toEqual({ cases: [{ name: 'TestA', seconds: 2, outcomes: { passed: 1, skipped: 1, failed: 1 } }], listed: null });
  });

  it('tells a test that was run again once', () => {
    const attempts = [caseOf('TestA/sub', { isFailed: true }), caseOf('TestA', { seconds: 2, isFailed: true })];
    expect(report(goTest, [...attempts, caseOf('TestA/sub'), caseOf('TestA', { seconds: 1 })])!.cases).toEqual([
      { name: 'TestA', seconds: 3, outcomes: { failed: 2 } },
    ]);
  });
});

describe('a filter for PHPUnit', () => {
  function testClass(content: string): string {
    const file = join(temporaryFolder(), 'ATest.php');
    writeFileSync(file, content);
    return file;
  }

  it('matches a class and whole names, whatever data sets are called', () => {
    const file = testClass('');
    const names = [
      'testA',
      ...HOSTILE.map(key => `testB with data set "${key}"`),
      'testB with data set #1',
      'testB with data set "new\nline\0"',
    ];
    const filter = argumentOf(select(phpunit, piece(names, null, file)));
    const [, pattern] = /^\/\^(.*)\$\/D$/s.exec(filter)!;
    expect(argumentOf(select(phpunit, piece([], names, file)))).toBe(`/^(?!${pattern}$)/D`);
    expect(filter).not.toMatch(/[\n\0]/);
    const expression = new RegExp(`^${pattern!.replace('*+', '*')}$`);
    for (const name of names) expect(expression.test(`My\\ATest::${name}`), name).toBe(true);
    for (const name of ['testAB', 'testB', 'testB with data set #11', 'testa'])
      expect(expression.test(`My\\ATest::${name}`), name).toBe(false);
  });

  it('is none if PCRE could not compile it, and for a file whose cases depend on each other', () => {
    const names = [...Array(2_000).keys()].map(i => `test${i} with data set "a"`);
    expect(select(phpunit, piece([], names, testClass('')))).toBeNull();
    for (const content of ['/** @depends testA */', "#[Depends('testA')]", '#[PHPUnit\\DependsExternal(A::class)]']) {
      const file = testClass(content);
      expect(select(phpunit, piece(['testB'], null, file))).toBeNull();
      expect(report(phpunit, [caseOf('testB')], file)).toBeUndefined();
    }
    expect(report(phpunit, [caseOf('testB')], testClass(''))!.cases).toHaveLength(1);
    expect(report(phpunit, [caseOf('a.phpt')], 'a.phpt')).toBeUndefined();
  });
});

it.each([
  [vitest, ['-t', '-t=a', '--testNamePattern', '--test-name-pattern=a'], ['--reporter=junit', 'run', '-u', '--typecheck', 'my-t']],
  [jest, ['-t', '-it', '--testNamePattern=a'], ['--json', '-i', '--testPathPattern', '--runTestsByPath']],
  [
    playwright,
    ['--test-list-invert', '--test-list-invert=a', '--test-list own.txt', '--test-list=own.txt'],
    ['--test-list', '--test-list {file}', '--test-list={file}', '--test-list $1', '--grep', '-g'],
  ],
  [goTest, ['-run', '--run=a', '-test.run=a', '-skip', '-list'], ['-race', '-v', './run', '-runtime']],
  [phpunit, ['--filter', '--filter=a'], ['--exclude-filter', '--group', '--log-junit']],
] as const)('knows the flags that select cases themselves (%#)', (runner, conflicting, fine) => {
  for (const flag of conflicting) expect(runner.conflicts.test(flag), flag).toBe(true);
  for (const flag of fine) expect(runner.conflicts.test(flag), flag).toBe(false);
});
