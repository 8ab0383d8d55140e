import { describe, expect, it } from 'vitest';
import { withFiles } from '../../src/client/command.js';

describe('the command of a batch', () => {
  it.each([
    ['the files for {}', ['jest', '{}', '--ci'], ['jest', 'a b', '$&', '--ci']],
    ['them at its end', ['pytest', '-q'], ['pytest', '-q', 'a b', '$&']],
    ['them joined for {,}', ['cypress', '--spec={,}'], ['cypress', '--spec=a b,$&']],
    ['both', ['x', '{}', '{,}'], ['x', 'a b', '$&', 'a b,$&']],
    ['braces of its own as they are', ['x', '{a}', '{}x'], ['x', '{a}', '{}x', 'a b', '$&']],
  ])('gets %s', (_, command, expected) => {
    expect(withFiles(command, ['a b', '$&'])).toEqual(expected);
  });
});
