import { describe, expect, it } from 'vitest';
import { commandError, commandLine, splitByLength } from '../../src/client/command-line.js';

describe('the command of a batch', () => {
  it.each([
    ['the files for {}', ['jest', '{}', '--ci'], ['jest', 'a b', '$&', '--ci']],
    ['them at its end', ['pytest', '-q'], ['pytest', '-q', 'a b', '$&']],
    ['them joined for {,}', ['cypress', '--spec={,}'], ['cypress', '--spec=a b,$&']],
    ['both', ['x', '{}', '{,}'], ['x', 'a b', '$&', 'a b,$&']],
    ['braces of its own as they are', ['x', '{a}', '{}x'], ['x', '{a}', '{}x', 'a b', '$&']],
  ])('gets %s', (_, command, expected) => {
    expect(commandLine(command, ['a b', '$&'])).toEqual(expected);
  });

  it('gets no path that looks like a flag', () => {
    expect(commandLine(['x'], ['-rf', 'a-b'])).toEqual(['x', './-rf', 'a-b']);
  });

  it.each([
    ['a path with a comma for {,}', ['cypress', '--spec={,}'], 'has a comma: use {}'],
    ['the first file as the name of a script', ['sh', '-c', 'jest "$@"', '{}'], 'the first test file as $0'],
    [
      'it behind other flags, or at the end',
      // biome-ignore lint/suspicious/noTemplateCurlyInString: a shell expands it
      ['/bin/bash', '-e', '-o', 'pipefail', '-ec', 'jest "${@}" | tee log'],
      'the first test file as $0',
    ],
  ])('is refused if it gets %s', (_, command, reason) => {
    expect(commandError(command, ['a', 'b,c'])).toContain(reason);
  });

  it.each([
    [['jest', '{}', '-c', 'x']],
    [['sh', '-c', 'jest "$@"', 'sh', '{}']],
    [['sh', '-c', 'jest "$0" "$@"', '{}']],
    [['sh', '-c', 'make test', '{}']],
    [['sh', 'run.sh', '{}']],
  ])('is accepted as %j', command => {
    expect(commandError(command, ['a', 'b,c'])).toBeNull();
  });

  it.each([
    ['that is short', ['a', 'bc'], [['a', 'bc']]],
    ['that is too long for one', ['aa', 'bb', 'c', 'dd', 'ü'], [['aa', 'bb'], ['c', 'dd'], ['ü']]],
    ['with a path that is too long alone', ['a', 'bbbbbbbb', 'c'], [['a'], ['bbbbbbbb'], ['c']]],
    ['of nothing', [], []],
  ])('is divided without losing files: %s', (_, paths, parts) => {
    expect(
      splitByLength(
        paths.map(path => ({ path })),
        6,
      ).map(part => part.map(({ path }) => path)),
    ).toEqual(parts);
  });
});
