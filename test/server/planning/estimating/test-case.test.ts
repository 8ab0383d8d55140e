import { describe, expect, it } from 'vitest';
import { fileOf } from '../../../../src/protocol/test-case.js';

describe('the file of a test case', () => {
  it.each([
    ['spec/a_spec.rb[1:2]', 'spec/a_spec.rb'],
    ['spec/a_spec.rb[1:1,1:2:3]', 'spec/a_spec.rb'],
    ['spec/a_spec.rb:12', 'spec/a_spec.rb'],
    ['test/a.py::test_b', 'test/a.py'],
    ['test/a.py::TestB::test_c[x::y/z]', 'test/a.py'],
    ['features/a.feature:12:30', 'features/a.feature'],
    ['src/a.spec.ts:12:5', 'src/a.spec.ts'],
    ['app/[id]/page.test.ts:7', 'app/[id]/page.test.ts'],
    ['C:\\spec\\a_spec.rb[1:2]', 'C:\\spec\\a_spec.rb'],
    ['C:\\tests\\a.py::test_b', 'C:\\tests\\a.py'],
  ])('of %s is %s', (path, file) => {
    expect(fileOf(path)).toBe(file);
  });

  it.each([
    'spec/a_spec.rb',
    'C:\\spec\\a_spec.rb',
    'app/[id]/page.test.ts',
    'app/[...slug].test.ts',
    'app/[id]',
    'app/[2]',
    '[1:2]',
    '::test',
    'shop::api',
    'shop::bin/shop',
    'CartTest::testTotal',
    '//cart:cart_test',
    ':12',
    'a.py:',
    'a[]',
    'test/1',
  ])('does not exist for %s', path => {
    expect(fileOf(path)).toBeNull();
  });

  it('is found in linear time in hostile paths', () => {
    for (const part of [':1', '[1', '::', '[[', ':::1', '1,']) {
      const path = part.repeat(50_000);
      for (const end of ['', 'x', ']', ':']) expect(fileOf(path + end)?.length ?? 0).toBeLessThan(path.length + 2);
    }
  });
});
