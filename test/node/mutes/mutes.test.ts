import { describe, expect, it } from 'vitest';
import { UsageError } from '../../../src/base/usage-error.js';
import { type CaseName, Mutes, parseMutes } from '../../../src/node/mutes/mutes.js';
import { limits } from '../../../src/protocol/limits.js';

const NOW = Date.parse('2026-11-30T23:59:00Z');
const END = 'until=2026-12-24 owner=@web reason=issue 4711';
const parsed = (text: string) => parseMutes(text, NOW);

function errorsOf(text: string): readonly string[] {
  try {
    return parsed(text) && [];
  } catch (error) {
    expect(error).toBeInstanceOf(UsageError);
    return (error as UsageError).errors;
  }
}

describe('the file of muted failures', () => {
  it('has comments, empty lines, files and test cases, with blanks in any of them, and any end of a line', () => {
    const text = `\uFEFF# Reviewed on Mondays.\r\n\r\n  spec/a b.rb ${END}\r\nspec/c.rb::adds  A::B until=5 ${END} owner=nobody\n`;
    expect(parsed(text)).toEqual([
      { line: 3, path: 'spec/a b.rb', testCase: null, until: '2026-12-24', owner: '@web', reason: 'issue 4711' },
      {
        line: 4,
        path: 'spec/c.rb',
        testCase: 'adds  A::B until=5',
        until: '2026-12-24',
        owner: '@web',
        reason: 'issue 4711 owner=nobody',
      },
    ]);
  });

  it('holds until the end of its last day in UTC', () => {
    expect(parsed('a until=2026-11-30 owner=o reason=r')).toHaveLength(1);
    expect(errorsOf('# one\na until=2026-11-29 owner=@web reason=r')).toEqual([
      '.ballast/muted:2: "a" expired: its last day was 2026-11-29, and today is 2026-11-30 in UTC; let @web fix the test and remove the line, or have a later day reviewed',
    ]);
  });

  it.each([
    ['a', 'has no last day: write PATH until='],
    ['a until=2026-02-30 owner=o reason=r', 'has until=2026-02-30, which is not a day: '],
    ['a until=tomorrow owner=o reason=r', 'has until=tomorrow, which is not a day: '],
    ['a until=2026-12-24 reason=r', 'has no owner: '],
    ['a until=2026-12-24 owner= reason=r', 'has no owner: '],
    ['a until=2026-12-24 owner=o', 'has no reason: '],
    ['a owner=o until=2026-12-24 reason=r', 'has no last day: '],
    [`a:: ${END}`, 'lacks its test case: '],
    [`::adds ${END}`, 'lacks its path: '],
  ])('refuses the line %s', (line, error) => {
    expect(errorsOf(line)).toEqual([expect.stringContaining(error)]);
  });

  it('names each line with a fault, and a line that repeats another one', () => {
    expect(errorsOf(`a ${END}\nb\na ${END}\n`)).toEqual([
      expect.stringMatching(/^\.ballast\/muted:2: "b" has no last day/),
      '.ballast/muted:3: "a" is muted by line 1, too: keep one of the lines',
    ]);
  });

  it('has a limited number of lines', () => {
    const lines = (count: number) => Array.from({ length: count }, (_, i) => `a${i} ${END}\n`).join('');
    expect(parsed(lines(limits.mutes))).toHaveLength(limits.mutes);
    expect(errorsOf(lines(limits.mutes + 1))).toEqual([expect.stringContaining(`mutes 201 failures, and the limit is ${limits.mutes}`)]);
  });
});

describe('mutes', () => {
  const mutes = new Mutes(
    parsed(['a.js', 'b.py::adds', 'b.py::TestCart::adds up', 'c.rb::Cart adds', 'd.py::x'].map(name => `${name} ${END}`).join('\n')),
  );
  const named = (name: string, classname = ''): CaseName => ({ name, classname });

  it.each<[string, CaseName[], boolean]>([
    ['a.js', [], true],
    ['a.js', [named('adds')], true],
    ['a.js::piece 1 of 2', [named('adds')], true],
    ['./a.js', [named('adds')], false],
    ['b.py', [], false],
    ['b.py', [named('adds', 'tests.b.TestAny')], true],
    ['b.py', [named('adds'), named('removes')], false],
    ['b.py', [named('adds up', 'tests.b.TestCart')], true],
    ['b.py', [named('adds up', 'tests.b.MyTestCart')], false],
    ['b.py::piece 2 of 2', [named('adds')], true],
    ['c.rb', [named('adds', 'Cart')], true],
    ['c.rb', [named('adds', 'Basket')], false],
    ['d.py::x', [], true],
  ])('of %s with the failures %j: %s', (path, failed, isMuted) => {
    expect(mutes.cover(path, failed)).toBe(isMuted);
  });

  it('say why', () => {
    expect(mutes.textOf('c.rb')).toBe('c.rb (.ballast/muted:4, until 2026-12-24, @web: issue 4711)');
  });
});
