import { posix, win32 } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseList, relativeTo } from '../../../src/node/client/test-files.js';

describe('a path of a test file', () => {
  it.each([
    ['src\\lib\\a.test.ts', 'src/lib/a.test.ts'],
    ['.\\src\\a.test.ts', 'src/a.test.ts'],
    ['C:\\work\\app\\src\\a.test.ts', 'src/a.test.ts'],
    ['c:\\Work\\app\\src\\a.test.ts', 'src/a.test.ts'],
    ['C:/work/app/src/a.test.ts', 'src/a.test.ts'],
    ['C:\\work\\application\\a.test.ts', 'C:/work/application/a.test.ts'],
    ['!src\\**\\*.slow.ts', '!src/**/*.slow.ts'],
  ])('on Windows is relative and has slashes: %s', (given, path) => {
    expect(relativeTo('C:\\work\\app', given, win32)).toBe(path);
  });

  it.each([
    ['./src/a.test.ts', 'src/a.test.ts'],
    ['/work/app/src/a.test.ts', 'src/a.test.ts'],
    ['/Work/app/src/a.test.ts', '/Work/app/src/a.test.ts'],
    ['src/a\\b.test.ts', 'src/a\\b.test.ts'],
  ])('elsewhere keeps its backslashes and capitals: %s', (given, path) => {
    expect(relativeTo('/work/app', given, posix)).toBe(path);
  });
});

it('a list that was written on Windows has slashes there, and line breaks of two characters', () => {
  const list = Buffer.from('\ufeffsrc\\a.test.ts\r\nsrc\\lib\\b.test.ts\r\n');
  expect(parseList(list, win32)).toEqual(['src/a.test.ts', 'src/lib/b.test.ts']);
  expect(parseList(list, posix)).toEqual(['src\\a.test.ts', 'src\\lib\\b.test.ts']);
});
