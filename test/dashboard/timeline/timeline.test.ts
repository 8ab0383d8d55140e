import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { barsOf, marksIn } from '../../../src/dashboard/timeline/bars.js';
import { firstAfter, runAt } from '../../../src/dashboard/timeline/find.js';
import {
  FAILED,
  FLAKY,
  failureText,
  lanesOf,
  lastFirst,
  lastLane,
  MISSING,
  MUTED,
  OVER,
  REPEATED,
  RUNNING,
  UNRECORDED,
} from '../../../src/dashboard/timeline/lanes.js';
import type { SpanAnswer, TimelineAnswer } from '../../../src/protocol/answers/timeline.js';
import { node, span } from './answers.js';

const laneOf = (spans: SpanAnswer[], estimates: (number | null)[] = [2, 3], is_running = false, is_guess: (0 | 1)[] = []) =>
  lanesOf({ kind: 'queue', nodes: [node(spans)], estimates, is_guess, is_running })[0]!;

describe('the lane of a node', () => {
  it('places the files of a batch one after another, and leaves the rest of the batch as a gap', () => {
    const lane = laneOf([span({}), span({ batch: 1, from: 10, to: 14, files: [2], seconds: [4] })], [2, 3, 4]);
    expect([...lane.from]).toEqual([0, 2, 10]);
    expect([...lane.to]).toEqual([2, 5, 14]);
    expect(lane.batches.map(({ number, filesEnd, to }) => ({ number, filesEnd, to }))).toEqual([
      { number: 0, filesEnd: 5, to: 10 },
      { number: 1, filesEnd: 14, to: 14 },
    ]);
  });

  it('draws files shorter that took longer than their batch, and tells what they took', () => {
    const lane = laneOf([span({ to: 10, seconds: [10, 30] })], [20, 20]);
    expect([...lane.to]).toEqual([2.5, 10]);
    expect([...lane.seconds]).toEqual([10, 30]);
    expect([...lane.expected]).toEqual([2.5, 7.5]);
  });

  it('places files that are not recorded by their estimates', () => {
    const lane = laneOf([span({ seconds: [null, null], lease: 'expired' })], [2, null], true);
    expect([...lane.to]).toEqual([2, 2]);
    expect([...lane.flags]).toEqual([UNRECORDED | MISSING, UNRECORDED | MISSING]);
  });

  it('marks files over their estimates, unless these were guessed', () => {
    expect([...laneOf([span({ seconds: [4, 6] })], [2, 3], false, [0, 1]).flags]).toEqual([OVER, 0]);
  });

  it('tells files that no node recorded from those that ran again', () => {
    const spans = [span({ to: 5, files: [0, 1], seconds: [null, null] }), span({ from: 5, files: [0], seconds: [4], is_replay: true })];
    expect([...laneOf(spans, [1, 1]).flags]).toEqual([UNRECORDED, UNRECORDED | MISSING, OVER | REPEATED]);
  });

  it('tells batches that may still be recorded from those that were lost', () => {
    const spans = [span({ to: 5, files: [0], seconds: [null] }), span({ from: 5, files: [1], seconds: [null] })];
    const flags = (recorded: boolean, is_running: boolean) => {
      const [lane] = lanesOf({ kind: 'queue', nodes: [node(spans, { recorded })], estimates: [1, 1], is_guess: [], is_running });
      return [...lane!.flags];
    };
    expect(flags(false, true)).toEqual([RUNNING, RUNNING]);
    expect(flags(true, true)).toEqual([UNRECORDED | MISSING, RUNNING]);
    expect(flags(false, false)).toEqual([UNRECORDED | MISSING, UNRECORDED | MISSING]);
  });

  it('marks what failed, what was repeated, and what was over its estimate by more than chance', () => {
    const files = [0, 1, 2, 3];
    const lane = laneOf([span({ to: 100, files, seconds: [3, 2.2, 0.4, 1], failed: [3], is_replay: true })], [2, 2, 0.1, null]);
    expect([...lane.flags]).toEqual([OVER | REPEATED, REPEATED, REPEATED, FAILED | REPEATED]);
  });

  it('marks files that were flaky in other words than those that failed', () => {
    const files = [0, 1, 2, 3];
    const seconds = files.map(() => 1);
    const lane = laneOf([span({ files, seconds, failed: [1, 2, 3], muted: [2], flaky: [0, 3] })], seconds);
    expect([...lane.flags]).toEqual([FLAKY, FAILED, FAILED | MUTED, FAILED | FLAKY]);
    expect(Array.from(lane.flags, failureText)).toEqual(['flaky', 'failed', 'failed, muted', 'failed, flaky']);
    expect(barsOf(lane, { from: 0, to: 10 }, 100).map(({ kind }) => kind)).toEqual(['flaky', 'failed', 'failed', 'flaky']);
  });

  it('of the node that ended last is known, with its distance from the one before', () => {
    const lanes = lanesOf({
      kind: 'queue',
      nodes: [5, 9, 7].map(end => node([], { end })),
      estimates: [],
      is_guess: [],
      is_running: false,
    });
    expect(lastLane(lanes)).toEqual({ lane: lanes[1], after: 2 });
    expect(lastLane(lanes.slice(0, 1))).toBeNull();
  });
});

describe('a run in a lane', () => {
  const lane = laneOf([span({}), span({ from: 10, to: 20 })]);

  it('is found by the time', () => {
    expect([0, 1.9, 2, 4.9, 5, 10, 19].map(time => firstAfter(lane, time))).toEqual([0, 0, 1, 1, 2, 2, 4]);
    expect([0, 2.5, 11].map(time => runAt(lane, time, 0))).toEqual([0, 1, 2]);
  });

  it('is found near the time, but not across a gap', () => {
    expect([runAt(lane, 5.4, 0.5), runAt(lane, 9.6, 0.5), runAt(lane, 7, 0.5), runAt(lane, -1, 0.5)]).toEqual([1, 2, null, null]);
  });
});

describe('the lanes of a timeline', () => {
  it('are in the order of their ends, the last one first, and those that never started at the end', () => {
    const ends = [10, null, 30, 20].map((end, node_index) => node([], { node_index, start: end === null ? null : 0, end }));
    expect(lastFirst(lanesOf({ kind: 'queue', nodes: ends, estimates: [], is_guess: [], is_running: false }))).toEqual([2, 3, 0, 1]);
  });

  it('have in their legend what there is to see', () => {
    const marks = (
      spans: SpanAnswer[],
      wall: number,
      { start = 0 as number | null, kind = 'queue' as TimelineAnswer['kind'], is_running = false } = {},
    ) => {
      const lanes = lanesOf({ kind, nodes: [node(spans, { start })], estimates: [2, 3], is_guess: [], is_running });
      return [...marksIn(lanes, wall, is_running)].sort();
    };
    expect(marks([span({ to: 5 })], 5)).toEqual(['work']);
    expect(marks([span({ seconds: [2, 6] })], 12)).toEqual(['gap', 'idle', 'over', 'work']);
    expect(marks([span({ from: 1, to: 6, failed: [0] })], 6, { start: 1 })).toEqual(['failed', 'late', 'work']);
    expect(marks([span({ to: 5, failed: [0], flaky: [0] })], 5)).toEqual(['flaky', 'work']);
    expect(marks([span({ to: 5, seconds: [null, null], is_replay: true })], 5)).toEqual(['repeated', 'unrecorded']);
    expect(marks([span({ to: 5, seconds: [null, null] })], 5, { is_running: true })).toEqual(['running']);
    expect(marks([], 5, { start: null, kind: 'split' })).toEqual(['idle', 'late']);
    expect(marks([], 5, { start: null })).toEqual(['idle']);
  });
});

describe('the bars of a lane', () => {
  const view = { from: 0, to: 10 };

  it('are the runs, and two of a run over its estimate', () => {
    const lane = laneOf([span({ seconds: [2, 6] })]);
    expect(barsOf(lane, view, 100)).toEqual([
      { kind: 'work', x: 0, width: 20, run: 0 },
      { kind: 'work', x: 20, width: 30, run: 1 },
      { kind: 'over', x: 50, width: 30, run: 1 },
    ]);
  });

  it('show that one of many narrow runs failed, or else was flaky', () => {
    const files = Array.from({ length: 100 }, (_, file) => file);
    const lane = laneOf(
      [span({ files, seconds: files.map(() => 0.1), failed: [50], flaky: [20, 49] })],
      files.map(() => 0.1),
    );
    const bars = barsOf(lane, view, 20);
    expect(bars.every(({ run }) => run === null)).toBe(true);
    for (const mark of ['failed', 'flaky']) expect(bars.filter(({ kind }) => kind === mark)).toHaveLength(1);
  });

  it('are few, within the view and in order, whatever the number of runs', () => {
    const lanes = fc.record({
      seconds: fc.array(fc.double({ min: 0, max: 5, noNaN: true }), { minLength: 1, maxLength: 2000 }),
      from: fc.double({ min: 0, max: 50, noNaN: true }),
      length: fc.double({ min: 0.1, max: 100, noNaN: true }),
    });
    fc.assert(
      fc.property(lanes, ({ seconds, from, length }) => {
        const files = seconds.map((_, file) => file);
        const lane = laneOf([span({ to: 10_000, files, seconds })], seconds);
        const bars = barsOf(lane, { from, to: from + length }, 100);
        expect(bars.length).toBeLessThanOrEqual(200);
        for (const [i, { x, width }] of bars.entries()) {
          expect(x < 100 && x + width >= -0.001).toBe(true);
          if (i > 0) expect(x).toBeGreaterThanOrEqual(bars[i - 1]!.x);
        }
      }),
      { numRuns: 50 },
    );
  });
});
