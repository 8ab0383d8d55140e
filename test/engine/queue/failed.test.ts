import { expect, it } from 'vitest';
import { failedOf } from '../../../src/engine/queue/failed.js';

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
