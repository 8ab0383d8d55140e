import { describe, expect, it } from 'vitest';
import { type Minutes, PART_NAMES } from '../../../../src/engine/insight/minutes/minutes.js';
import { decidedBy, idleShare, isOutOfDate, savedTime, summarize } from '../../../../src/engine/insight/trends/summary.js';
import { type Batch, START, timelineOf } from '../lanes.js';

const BASELINES = { round_robin: 40_000, by_name: 50_000, one_at_a_time: 33_000 };

function minutes(parts: Partial<Record<(typeof PART_NAMES)[number], number>>): Minutes {
  const all = PART_NAMES.map(name => ({ name, milliseconds: parts[name] ?? 0, nodes: [] }));
  const node = { late: 0, work: 0, repeats: 0, gaps: 0, isLost: false, isScaled: false };
  const nodes = [
    { ...node, node_index: 0, idle: 0, slowness: 1.254 },
    { ...node, node_index: 1, idle: 6000, slowness: null },
  ];
  return { wall: all.reduce((sum, { milliseconds }) => sum + milliseconds, 0), floor: 0, parts: all, nodes, longest: null };
}

/** A batch of one file after another. */
const batch = (from: number, seconds: Record<string, number>): Batch => {
  const times = Object.values(seconds);
  return { files: Object.keys(seconds), seconds: times, from, to: from + times.reduce((sum, each) => sum + (each || 0), 0) };
};

describe('a summary', () => {
  const timeline = timelineOf([[batch(0, { a: 10, b: 4 })], [batch(2, { c: 6, d: NaN })], null]);

  it('has what its timeline and its minutes tell', () => {
    const summary = summarize({ recorded: 7 }, timeline, minutes({ even_share: 10_000, idle: 4000 }), BASELINES);
    expect(summary).toEqual({
      recorded: 7,
      kind: 'queue',
      started_at: START,
      is_running: false,
      wall: 14_000,
      floor: 0,
      parts: [10_000, 0, 0, 0, 0, 0, 0, 4000],
      nodeTime: 28_000,
      idleTime: 6000,
      total: 20_000,
      files: 4,
      failed: null,
      missing: 1,
      longest: { path: 'a', milliseconds: 10_000 },
      last: { node_index: 0, milliseconds: 6000 },
      decided_by: null,
      slowness: [1.25, 0],
      baselines: BASELINES,
    });
    expect([idleShare(summary), savedTime(summary)]).toEqual([6 / 28, 19_000]);
  });

  it('compares a split with other splits only', () => {
    const baselines = { round_robin: 30_000, by_name: 40_000, one_at_a_time: 20_000 };
    expect(savedTime({ kind: 'queue', wall: 25_000, baselines })).toBe(-5000);
    expect(savedTime({ kind: 'split', wall: 25_000, baselines })).toBe(5000);
  });

  it('counts what failed when it ran last', () => {
    const again = timelineOf([[batch(0, { a: 10, b: 4, c: 1 }), batch(20, { c: 2, a: 9 })]]);
    const [first, second] = again.nodes[0]!.spans;
    first!.failed = [0, 1];
    second!.failed = [0];
    expect(summarize({ recorded: 1 }, again, minutes({}), BASELINES)).toMatchObject({ failed: 2, total: 15_000, last: null });
    second!.failed = [];
    expect(summarize({ recorded: 1 }, again, minutes({}), BASELINES)).toMatchObject({ failed: 1 });
  });

  it('misses no file of which a test case was recorded', () => {
    const cases = timelineOf([[batch(0, { 'a_spec.rb': NaN, 'a_spec.rb[1:1]': 4, 'b_spec.rb': NaN })]]);
    expect(summarize({ recorded: 1 }, cases, minutes({}), BASELINES)).toMatchObject({ missing: 1, files: 3, total: 4000 });
  });

  it('tells the file that decided, or else the node that was late', () => {
    const last = { node_index: 5, milliseconds: 3000 };
    expect(decidedBy({ decided_by: 'a', last, wall: 100_000 })).toEqual({ path: 'a' });
    expect(decidedBy({ decided_by: null, last, wall: 100_000 })).toEqual({ node_index: 5 });
    expect(decidedBy({ decided_by: null, last, wall: 150_000 })).toBeNull();
    expect(decidedBy({ decided_by: null, last: null, wall: 1000 })).toBeNull();
  });

  it('of nothing is all zeros', () => {
    const summary = summarize({ recorded: 1 }, timelineOf([null]), minutes({}), BASELINES);
    expect(summary).toMatchObject({ wall: 0, total: 0, files: 0, longest: null, last: null, decided_by: null, nodeTime: 0 });
    expect(idleShare({ nodeTime: 0, idleTime: 0 })).toBe(0);
  });

  it('is out of date when it is missing, older than the last run, or was made while nodes ran', () => {
    const summary = summarize({ recorded: 2 }, timeline, minutes({}), BASELINES);
    expect(isOutOfDate({ recorded: 2 }, summary)).toBe(false);
    expect(isOutOfDate({ recorded: 3 }, summary)).toBe(true);
    expect(isOutOfDate({ recorded: 2 }, { ...summary, is_running: true })).toBe(true);
    expect(isOutOfDate({ recorded: 2 }, null)).toBe(true);
  });
});
