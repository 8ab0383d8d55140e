import { describe, expect, it } from 'vitest';
import { progressText } from '../../../../src/dashboard/pages/build/progress.js';
import type { MinutesAnswer } from '../../../../src/protocol/answers/minutes.js';

describe('how far a build is', () => {
  const nodes = [300, 280].map(files => ({ files }));
  const running = {
    is_running: true,
    kind: 'queue',
    state: 'running',
    files: 1122,
    done_count: 6,
    failed_count: null,
    proved: null,
    nodes,
  };
  const leftOut = (test_files: number, ...ids: string[]) => ({ test_files, ci_runs: ids.map(ci_run => ({ ci_run })) });
  const ended = { is_running: false, state: 'complete', failed_count: 0 };

  it.each<[situation: string, more: object, text: string]>([
    ['runs, and its clients tell little', {}, '580 of 1\u202f122 files are handed out, 6 reported.'],
    ['runs, and none failed', { failed_count: 0 }, '580 of 1\u202f122 files are handed out, 6 reported, none failed.'],
    ['runs, and reported nothing', { done_count: 0 }, '580 of 1\u202f122 files are handed out, none reported.'],
    ['runs, and handed files out again', { files: 500 }, '500 of 500 files are handed out, 6 reported.'],
    ['runs without a plan', { kind: 'recordings' }, ''],
    ['is complete', ended, 'All 1\u202f122 files ran.'],
    ['has a file that failed', { ...ended, state: 'failed', failed_count: 1 }, 'All 1\u202f122 files ran.'],
    ['has one file', { ...ended, files: 1 }, 'Its 1 file ran.'],
    ['left files out', { ...ended, files: 1, proved: leftOut(4, '100') }, 'Its 1 file ran: 4 others passed before in CI run 100.'],
    ['left all out', { ...ended, files: 0, proved: leftOut(5, '101', '100') }, 'No file ran: all 5 files passed before in 2 CI runs.'],
    ['misses files', { ...ended, state: 'missing' }, ''],
    ['was cancelled', { ...ended, state: 'cancelled' }, ''],
    ['ended without a plan', { ...ended, kind: 'recordings', state: 'failed' }, ''],
  ])('is told of one that %s', (_, more, text) => {
    expect(progressText({ ...running, ...more } as unknown as MinutesAnswer)).toBe(text);
  });
});
