import { expect, it } from 'vitest';
import { limits } from '../../../../src/protocol/limits.js';
import { boundFailed, failedOf } from '../../../../src/server/engine/queue/failed.js';

const paths = ['spec/a_spec.rb', 'tests/b.spec.ts', 'spec/c_spec.rb[1:1]'];
const batch = { files: [7, 3, 9] };

it.each<[string, string[], ReturnType<typeof failedOf>]>([
  ['a file', ['spec/c_spec.rb[1:1]', 'spec/a_spec.rb'], { failed: [7, 9] }],
  [
    'a test case, once each',
    ['spec/a_spec.rb[1:2]', 'spec/a_spec.rb[1:2]', 'tests/b.spec.ts:12'],
    {
      failed: [7, 3],
      failed_cases: [
        [7, ['spec/a_spec.rb[1:2]']],
        [3, ['tests/b.spec.ts:12']],
      ],
    },
  ],
  ['a file and a test case in it, as the file', ['tests/b.spec.ts:12', 'tests/b.spec.ts', 'tests/b.spec.ts:15'], { failed: [3] }],
  ['more test cases than the limit, as the file', Array.from({ length: 201 }, (_, i) => `tests/b.spec.ts:${i}`), { failed: [3] }],
  ['a path that is not in the batch, as all files', ['spec/a_spec.rb', 'spec/c_spec.rb[1:2]'], { failed: [7, 3, 9] }],
])('a client can report %s', (_, reported, failed) => {
  expect(failedOf(batch, paths, reported)).toEqual(failed);
});

it('failed paths are looked at one by one up to a limit; more are those of their files, and more files are all of the batch', () => {
  // With 64 each, as many as the limit allows.
  const cases = Array.from({ length: limits.failedCharactersPerReport / 128 }, (_, i) => `spec/a_spec.rb[1:${i}]`.padStart(64, 'x/'));
  expect(boundFailed(cases)).toEqual(cases);
  expect(boundFailed([...cases, 'tests/b.spec.ts'])).toContain('tests/b.spec.ts');
  expect(boundFailed([...cases, 'tests/b.spec.ts'])!.length).toBeLessThan(10);
  const files = cases.map((_, i) => `${i}_spec.rb`.padStart(65, 'x'));
  expect(boundFailed(files)).toBeNull();
  expect(failedOf(batch, paths, null)).toEqual({ failed: batch.files });
});
