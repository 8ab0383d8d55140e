import { describe, expect, it } from 'vitest';
import type { Minutes } from '../../../../src/engine/insight/minutes/minutes.js';
import { PART_DEFINITIONS, PART_NAMES } from '../../../../src/engine/insight/minutes/minutes-answer.js';
import { decidingPath, idleShare, isOutOfDate, savedTime, summarize } from '../../../../src/engine/insight/trends/summary.js';
import { batchOf, START, timelineOf } from '../lanes.js';

const BASELINES = { round_robin: 40, by_name: 50, one_at_a_time: 33 };

function minutes(seconds: Partial<Record<(typeof PART_NAMES)[number], number>>): Minutes {
  const parts = PART_NAMES.map(name => ({ name, seconds: seconds[name] ?? 0, definition: PART_DEFINITIONS[name], nodes: [] }));
  const node = { late: 0, work: 0, repeats: 0, unreported: 0, gaps: 0, isLost: false, isScaled: false };
  const nodes = [
    { ...node, node_index: 0, idle: 0, slowness: 1.254 },
    { ...node, node_index: 1, idle: 6, slowness: null },
  ];
  return { wall: parts.reduce((sum, part) => sum + part.seconds, 0), floor: 0, parts, nodes, longest: null };
}

describe('a summary', () => {
  const timeline = timelineOf([[batchOf(0, { a: 10, b: 4 })], [batchOf(2, { c: 6, d: null })], null]);

  it('has what its timeline and its minutes tell', () => {
    expect(summarize({ recorded: 7 }, timeline, minutes({ even_share: 10, idle: 4 }), BASELINES)).toEqual({
      recorded: 7,
      started_at: START,
      is_running: false,
      is_partial: false,
      line: {
        kind: 'queue',
        wall: 14,
        floor: 0,
        idle_share: 6 / 28,
        files: 4,
        failed: null,
        missing: 1,
        longest: { path: 'a', seconds: 10 },
        last: { node_index: 0, seconds: 6 },
        decided_by: { node_index: 0 },
        saved: 19,
      },
      parts: { even_share: 10, longest_file: 0, slow_nodes: 0, estimates: 0, late_starts: 0, unreported: 0, gaps: 0, repeats: 0, idle: 4 },
      node_seconds: 28,
      idle_seconds: 6,
      slowness: [1.25, null],
      baselines: BASELINES,
    });
  });

  it('compares a split with other splits only', () => {
    const baselines = { round_robin: 30, by_name: 40, one_at_a_time: 20 };
    expect(savedTime({ kind: 'queue', wall: 25 }, baselines)).toBe(-5);
    expect(savedTime({ kind: 'split', wall: 25 }, baselines)).toBe(5);
  });

  it('counts what failed when it ran last', () => {
    const again = timelineOf([[batchOf(0, { a: 10, b: 4, c: 1 }), batchOf(20, { c: 2, a: 9 })]]);
    const [first, second] = again.nodes[0]!.spans;
    first!.failed = [0, 1];
    second!.failed = [2];
    expect(summarize({ recorded: 1 }, again, minutes({}), BASELINES).line).toMatchObject({ failed: 2, last: null });
    second!.failed = [];
    expect(summarize({ recorded: 1 }, again, minutes({}), BASELINES).line.failed).toBe(1);
  });

  it('misses no file of which a test case was recorded', () => {
    const cases = timelineOf([[batchOf(0, { 'a_spec.rb': null, 'a_spec.rb[1:1]': 4, 'b_spec.rb': null })]]);
    expect(summarize({ recorded: 1 }, cases, minutes({}), BASELINES).line).toMatchObject({ missing: 1, files: 3 });
  });

  it.each([
    ['the file that is longer than an even share', { longest_file: 5 }, { file: 0, node_index: 0, seconds: 10 }, { path: 'a' }],
    ['or else the node that was late', {}, null, { node_index: 0 }],
    ['or nothing when no delay matters', { even_share: 1000 }, null, null],
  ])('tells what decided: %s', (_, parts, longest, decided_by) => {
    const summary = summarize({ recorded: 1 }, timeline, { ...minutes(parts), longest }, BASELINES);
    expect(summary.line.decided_by).toEqual(decided_by);
    expect(decidingPath({ ...summary, line: { ...summary.line, missing: 0 } })).toBe(longest && 'a');
    expect(decidingPath(summary), 'a file is missing').toBeNull();
  });

  it('of nothing is all zeros', () => {
    const { line, node_seconds } = summarize({ recorded: 1 }, timelineOf([null]), minutes({}), BASELINES);
    expect([line, node_seconds]).toMatchObject([{ wall: 0, files: 0, longest: null, last: null, decided_by: null }, 0]);
    expect(idleShare({ node_seconds: 0, idle_seconds: 0 })).toBe(0);
  });

  it('is out of date when it is missing, older than the last run, or was made while nodes ran', () => {
    const summary = summarize({ recorded: 2 }, timeline, minutes({}), BASELINES);
    expect(isOutOfDate({ recorded: 2 }, summary)).toBe(false);
    expect(isOutOfDate({ recorded: 3 }, summary)).toBe(true);
    expect(isOutOfDate({ recorded: 2 }, { ...summary, is_running: true })).toBe(true);
    expect(isOutOfDate({ recorded: 2 }, null)).toBe(true);
  });
});
