import { describe, expect, it } from 'vitest';
import {
  failuresText,
  fileSentences,
  filesSentences,
  passedAgainText,
  piecesSentences,
} from '../../../../src/dashboard/pages/files/sentences.js';
import type { FileHistory, FilePieces, FileTrends } from '../../../../src/protocol/answers/trends.js';

describe('the first line of the files', () => {
  const files = (decided: FileTrends['decided'], builds: number, more: Partial<FileTrends> = {}) =>
    filesSentences({ branch: 'refs/heads/main', decided, file_count: 1122, files: [], builds, ...more });

  it('names the file that most builds waited for, and says how few made most of them wait', () => {
    const decided = [50, 15, 10, 10, 10, 5].map((builds, i) => ({ path: `spec/${i}`, builds }));
    expect(files(decided, 100)).toEqual([
      '50 of the last 100 builds of main waited for spec/0.',
      'Four of 1\u202f122 files made 85\u202f% of them wait.',
    ]);
    expect(files([{ path: 'spec/a', builds: 9 }], 10)).toEqual(['Nine of the last 10 builds of main waited for spec/a.']);
    expect(files([{ path: 'spec/a', builds: 2 }], 10)).toEqual(['Two of the last 10 builds of main waited for spec/a.']);
    expect(files([{ path: 'spec/a', builds: 1 }], 1)).toEqual(['The last build of main waited for spec/a.']);
  });

  it('says that no build waited', () => {
    expect(files([], 10)).toEqual([
      'None of the last 10 builds of main waited for a single file.',
      'Cutting one would not have ended them sooner.',
    ]);
    expect(files([], 1)).toEqual(['The last build of main did not wait for a single file.', 'Cutting one would not have ended it sooner.']);
    expect(files([], 0, { file_count: 0 })).toEqual(['No file was measured yet.']);
  });
});

describe('the first line of a file', () => {
  const inBuild = { build_id: 'b', commit_hash: 'abc', at: '2026-11-22T10:00:00Z' };
  const point = { ...inBuild, node_index: 0, estimate: null, low: null, high: null, result: null };
  const history: FileHistory = {
    path: 'spec/cart_spec.rb',
    branch: 'main',
    estimate: 61,
    median: 21,
    points: [20, 21, 62].map(seconds => ({ ...point, seconds })),
    changes: [{ at: point.at, build_id: 'b', commit_hash: '4d5e6f7a8b', factor: 3.1, before: 20, after: 62 }],
    decided: [{ build_id: 'b', commit_hash: 'abc', at: point.at, seconds: 12 }],
    failed: [],
    results: 0,
    cut_saves: 30,
    pieces: null,
    cut: { build_id: 'b', pieces: 2, is_done: false },
  };

  it('says what it takes, since which day, and how many builds waited for it', () => {
    expect(fileSentences(history).join(' ')).toBe(
      'spec/cart_spec.rb takes 61 s. Since 4d5e6f7a (2026-11-22) it takes 3.1× as long as before. 1 of 3 builds waited for it.',
    );
    const steady = { ...history, changes: [], decided: [] };
    expect(fileSentences({ ...steady, estimate: 22 }).join(' ')).toBe('spec/cart_spec.rb takes 22 s. Its time did not change.');
    expect(fileSentences(steady).join(' ')).toBe('spec/cart_spec.rb takes 61 s. The median of its times is 21 s.');
    expect(fileSentences({ ...history, median: null, points: [] }).join(' ')).toBe('spec/cart_spec.rb was not measured on main.');
  });

  const failure = { ...inBuild, result: 'failed' as const };

  it.each<[situation: string, more: Partial<FileHistory>, text: string]>([
    ['it never failed', { results: 3 }, 'It did not fail in the last 3 builds of main that tell its result.'],
    ['it failed', { results: 3, failed: [failure] }, 'It failed in 1 of the last 3 builds of main that tell its result, the last time in '],
    ['one build tells it', { results: 1 }, 'It did not fail in the last build of main that tells its result.'],
    ['it failed in the only build', { results: 1, failed: [failure] }, 'It failed in the last build of main that tells its result, '],
  ])('says how often it failed, if %s', (_, more, text) => {
    expect(failuresText({ ...history, ...more })).toBe(text);
  });

  it.each([
    ['no build', ['failed', 'muted'], ''],
    ['some builds', ['failed', 'flaky', 'muted', 'flaky'], 'In 2 of these it passed when it ran again.'],
    ['the only build', ['flaky'], 'It passed when it ran again.'],
    ['each build', ['flaky', 'flaky'], 'Each time it passed when it ran again.'],
  ] as const)('says that it passed again in %s', (_, results, text) => {
    expect(passedAgainText({ failed: results.map(result => ({ ...inBuild, result })) })).toBe(text);
  });
});

describe('what is known of a file in pieces', () => {
  const pieces: FilePieces = { cases: 34, runner: 'pytest', count: null, is_proven: false, not_cut: null };
  const notCut = { reason: 'differs' as const, commit_hash: '4d5e6f7a8b', cases: ['a', 'b'], pieces_seconds: 0, file_seconds: 0 };

  it.each<[situation: string, more: Partial<FilePieces>, text: string]>([
    ['its cases are known from a runner', {}, 'Its 34 test cases are known from pytest.'],
    ['its cases are known from reports', { runner: null }, 'Its 34 test cases are known from reports.'],
    ['it has one case', { cases: 1 }, 'Its 1 test case is known from pytest.'],
    ['it ran in pieces', { count: 3, is_proven: true }, 'Its 34 test cases ran in 3 pieces the last time.'],
    [
      'a case failed in a piece',
      { count: 3 },
      'Its 34 test cases ran in 3 pieces the last time. A case failed in a piece, so if a piece fails the next time, the whole file decides.',
    ],
    [
      'cases passed in the whole file only',
      { not_cut: notCut },
      'It no longer runs in pieces: at 4d5e6f7a, a, b passed in the whole file, but not in a piece. Its cases may share state or depend on their order, or the command did not select them.',
    ],
    [
      'more cases did than are named',
      { not_cut: { ...notCut, cases: ['a', 'b', 'c', 'd', 'e'] } },
      'It no longer runs in pieces: at 4d5e6f7a, a, b, c and 2 more passed in the whole file, but not in a piece. Its cases may share state or depend on their order, or the command did not select them.',
    ],
    [
      'its pieces took long',
      { not_cut: { ...notCut, reason: 'slow', cases: [], pieces_seconds: 90, file_seconds: 50 } },
      'It no longer runs in pieces: at 4d5e6f7a, its pieces together took 90 s, and the whole file takes 50 s.',
    ],
  ])('says that %s', (_, more, text) => {
    expect(piecesSentences({ ...pieces, ...more }).join(' ')).toBe(text);
  });
});
