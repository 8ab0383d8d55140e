import { describe, expect, it } from 'vitest';
import { branchSentences, mergeBuilds, shownText, updateBuilds } from '../../../../src/dashboard/pages/builds/list.js';
import type { BuildLine, BuildLineSummary } from '../../../../src/protocol/answers/trends.js';
import { summaryOf } from '../../../server/store/contract/fixtures.js';

/** A build that began so many minutes after midnight. */
const build = (minutes: number, more: Partial<BuildLine> = {}): BuildLine => ({
  build_id: `build ${minutes}`,
  ci_run_id: `run ${minutes}`,
  ci_run: null,
  commit_hash: 'c',
  branch: 'main',
  node_total: 2,
  created_at: new Date(Date.UTC(2026, 0, 1) + minutes * 60_000).toISOString(),
  started_at: new Date(Date.UTC(2026, 0, 1) + minutes * 60_000).toISOString(),
  is_running: false,
  state: 'unknown',
  summary: null,
  ...more,
});

const summary = (line: Partial<BuildLineSummary>) => summaryOf({ line }).line;

describe('the list of builds', () => {
  it('keeps older builds when a new one pushes the first page on', () => {
    const known = [build(3), build(2), build(1)];
    expect(mergeBuilds(known, [build(4), build(3)])).toEqual([build(4), build(3), build(2), build(1)]);
  });

  it('shows a build once when its first recording gives it an id', () => {
    const before = build(3, { build_id: null, is_running: true });
    expect(mergeBuilds([before, build(2)], [build(3), build(2)])).toEqual([build(3), build(2)]);
  });

  it('leaves out a build that has expired', () => {
    expect(mergeBuilds([build(3), build(2), build(1)], [build(3), build(1)])).toEqual([build(3), build(1)]);
    expect(mergeBuilds([build(1)], [])).toEqual([]);
  });

  it('changes builds in their places while somebody reads, and counts the new ones', () => {
    const ended = build(2, { summary: summary({}) });
    expect(updateBuilds([build(2, { is_running: true }), build(1)], [build(3), ended])).toEqual({ builds: [ended, build(1)], added: 1 });
  });
});

describe('the first line of the builds', () => {
  const took = (wall: number, more: Partial<BuildLine> = {}) =>
    build(wall, { state: 'complete', ...more, summary: summary({ wall, failed: 0 }) });
  const before = [took(580), took(600), took(620), took(900)];
  const failed = { state: 'failed' as const };

  it.each<[situation: string, builds: BuildLine[], text: string]>([
    [
      'took longer',
      [took(730), ...before],
      'The last build of main took 12 m 10 s, 2 m 00 s more than the median of the 4 before. Files failed or are missing in none of its last 5 builds.',
    ],
    [
      'took as long, while another runs',
      [build(9, { is_running: true }), took(615), ...before.slice(1)],
      'The last build of main took 10 m 15 s, about the median of the 3 before. Files failed or are missing in none of its last 4 builds.',
    ],
    [
      'failed',
      [took(500, failed), ...before, took(9, { state: 'missing' })],
      'The last build of main failed after 8 m 20 s, 1 m 50 s less than the median of the 4 before. Files failed or are missing in 2 of its last 6 builds.',
    ],
    [
      'misses files',
      [took(500, { state: 'missing' }), ...before],
      'The last build of main ended incomplete after 8 m 20 s. Files failed or are missing in 1 of its last 5 builds.',
    ],
    [
      'had other numbers of nodes before',
      [took(500, { node_total: 9 }), ...before],
      'The last build of main took 8 m 20 s. Files failed or are missing in none of its last 5 builds.',
    ],
    [
      'was reported without results',
      [took(600), ...before].map(each => ({ ...each, summary: { ...each.summary!, failed: null } })),
      'The last build of main took 10 m 00 s, about the median of the 4 before. Its clients report no failures; files are missing in none of its last 5 builds.',
    ],
    ['is the first', [took(500)], 'The last build of main took 8 m 20 s.'],
    ['is of another branch', [took(500, { branch: 'fix' })], ''],
  ])('says of a last build that %s', (_, builds, text) => {
    expect(branchSentences(builds, 'main').join(' ')).toBe(text);
  });
});

describe('the number of listed builds', () => {
  const begun = build(4, { build_id: null, is_running: true });
  const begunAndRecorded = build(3, { is_running: true });
  const dead = build(2, { build_id: null, state: 'missing' });

  it.each([
    ['ended builds', [build(1)], 1, '1 build'],
    ['the first of many', [build(2), build(1)], 361, '2 of 361 builds'],
    ['a build that runs, with and without a recording', [begun, begunAndRecorded, build(1)], 2, '1 build, 2 running'],
    ['a build whose nodes ended without a recording', [dead, build(1)], 1, '1 build, 1 unrecorded'],
    ['a first build that runs', [begun], 0, '1 running'],
    ['no build', [], 0, '0 builds'],
  ])('says of %s what each of them is called in its row', (_, builds, total, text) => {
    expect(shownText(builds, total)).toBe(text);
  });
});
