import { describe, expect, it } from 'vitest';
import { mergeBuilds, shownText, updateBuilds } from '../../../../src/dashboard/pages/builds/list.js';
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
