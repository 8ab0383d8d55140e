import { describe, expect, it } from 'vitest';
import { faultText } from '../../../../src/base/usage-error.js';
import {
  commandFault,
  commandLine,
  commandWithListFile,
  readsListFile,
  shellLine,
  splitByLength,
} from '../../../../src/node/client/command/command-line.js';

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

  it.each([
    ['as an argument', ['phpunit', '--test-files-file', '{file}'], ['phpunit', '--test-files-file', '/t/$&']],
    ['within arguments', ['mvn', '-Dsurefire.includesFile={file}', '@{file}'], ['mvn', '-Dsurefire.includesFile=/t/$&', '@/t/$&']],
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a shell expands it
    ['but not in the variable of a shell', ['sh', '-c', 'echo "${file}" {file}'], ['sh', '-c', 'echo "${file}" /t/$&']],
  ])('gets the path of a file for {file} %s', (_, command, expected) => {
    expect(readsListFile(command)).toBe(true);
    expect(commandWithListFile(command, '/t/$&')).toEqual(expected);
  });

  it('reads no file if only a shell has a variable of that name', () => {
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a shell expands it
    expect(readsListFile(['sh', '-c', 'for file do echo "${file}"; done', 'sh', '{}'])).toBe(false);
  });

  it('is a line for a shell', () => {
    const files = ['a/[id].test.js', "it's", '-rf'];
    expect(shellLine(['npx', 'jest', '--grep=a b', '{}', '--ci'], files)).toBe(
      `npx jest '--grep=a b' 'a/[id].test.js' 'it'\\''s' ./-rf --ci`,
    );
    expect(shellLine(['mvn', '-Dfiles={file}'], ['a b', 'c'])).toBe(`printf '%s\\n' 'a b' c > files.txt; mvn -Dfiles=files.txt`);
    expect(shellLine([], ['a', 'b c'])).toBe(`a 'b c'`);
  });

  it('gets no path that looks like a flag', () => {
    expect(commandLine(['x'], ['-rf', 'a-b'])).toEqual(['x', './-rf', 'a-b']);
  });

  it.each<[string, string[], string, files?: string[]]>([
    ['a path with a comma for {,}', ['cypress', '--spec={,}'], 'has a comma: use {}'],
    ['the first file as the name of a script', ['sh', '-c', 'jest "$@"', '{}'], 'the first test file as $0'],
    [
      'it behind other flags, or at the end',
      // biome-ignore lint/suspicious/noTemplateCurlyInString: a shell expands it
      ['/bin/bash', '-e', '-o', 'pipefail', '-ec', 'jest "${@}" | tee log'],
      'the first test file as $0',
    ],
    ['the first file in the shell of Alpine', ['ash', '-c', 'jest "$@"', '{}'], 'the first test file as $0'],
    ['both {file} and {}', ['x', '{file}', '{}'], 'would get its test files twice'],
    ['both {file} and {,}', ['x', '{file}', '{,}'], 'would get its test files twice', ['a']],
    ['{file} as the name of a script', ['sh', '-c', 'x --list "$1"', '{file}'], 'the script would get {file} as $0'],
    ['a path with a line break in {file}', ['x', '--list={file}'], '"d\\ne", because its path has a line break: use {}', ['a', 'd\ne']],
  ])('is refused if it gets %s', (_, command, reason, files = ['a', 'b,c']) => {
    expect(faultText(commandFault(command, files)!)).toContain(reason);
  });

  it.each([
    [['jest', '{}', '-c', 'x']],
    [['sh', '-c', 'jest "$@"', 'sh', '{}']],
    [['sh', '-c', 'jest "$0" "$@"', '{}']],
    [['sh', '-c', 'make test', '{}']],
    [['sh', 'run.sh', '{}']],
    [['ssh', '-c', 'aes "$@"', '{}']],
    [['sh', '-c', 'x --list "$1"', 'sh', '{file}']],
    [['sh', '-c', 'x --list {file}']],
  ])('is accepted as %j', command => {
    expect(commandFault(command, ['a', 'b,c'])).toBeNull();
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
