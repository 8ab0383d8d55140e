import { describe, expect, it } from 'vitest';
import { PART_DEFINITIONS, PART_NAMES } from '../../../../src/protocol/answers/minutes.js';
import type { FileOutcome } from '../../../../src/protocol/file-outcome.js';
import type { Minutes } from '../../../../src/server/insight/minutes/minutes.js';
import { decidingPath, FAILED_FILES, idleShare, resultOf, savedTime, summarize } from '../../../../src/server/insight/trends/summary.js';
import { batchOf, START, timelineOf } from '../lanes.js';

const BASELINES = { round_robin: 40, by_name: 50, one_at_a_time: 33 };

function minutes(seconds: Partial<Record<(typeof PART_NAMES)[number], number>>): Minutes {
  const parts = PART_NAMES.map(name => ({ name, seconds: seconds[name] ?? 0, definition: PART_DEFINITIONS[name], nodes: [] }));
  const node = { late: 0, work: 0, repeats: 0, unreported: 0, gaps: 0, isLost: false, isScaled: false };
  const nodes = [
    { ...node, node_index: 0, idle: 0, slowness: 1.254 },
    { ...node, node_index: 1, idle: 6, slowness: null },
  ];
  const none = { estimates: 0, slow_nodes: 0, late_starts: 0, repeats: 0, unreported: 0, gaps: 0 };
  const lastSpans = nodes.map(() => ({ excess: none, overrun: null }));
  return { wall: parts.reduce((sum, part) => sum + part.seconds, 0), floor: 0, parts, nodes, lastSpans, longest: null };
}

describe('a summary', () => {
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

  it('names the files that failed, and so tells the result of each, until there are more than it keeps', () => {
    const paths = ['a.py::piece 1 of 2', 'a.py::piece 2 of 2', ...Array.from({ length: FAILED_FILES }, (_, i) => `${i}.py`)];
    const timeline = timelineOf([[batchOf(0, Object.fromEntries(paths.map(path => [path, 1])))]]);
    const [span] = timeline.nodes[0]!.spans;
    const result = (path: string, failed: number[] | null, at: number | null = 5000, outcome: FileOutcome | null = null) => {
      span!.failed = failed;
      return resultOf(summarize({ recorded: 1 }, timeline, minutes({}), BASELINES), path, at === null ? null : { at: START + at, outcome });
    };
    expect(result('a.py', [0, 1])).toBe('failed');
    expect(result('a.py', [1, 2])).toBe('failed');
    expect(result('0.py', [1, 2])).toBe('failed');
    expect(result('1.py', [1, 2])).toBe('passed');
    // It recorded nothing, or an earlier CI run of the build ran it.
    expect([result('1.py', [], null), result('1.py', [], -1), result('0.py', [2], null)]).toEqual([null, null, 'failed']);
    expect(result('1.py', null), 'the client does not say what failed').toBeNull();
    // What was told with the time.
    const told = (['passed', 'failed', 'flaky', 'skipped', 'muted'] as const).map(outcome => result('1.py', null, 5000, outcome));
    expect([told, result('1.py', null, -1, 'failed')]).toEqual([['passed', 'failed', 'flaky', null, 'muted'], null]);
    expect([result('0.py', [2], 5000, 'muted'), result('1.py', [2], 5000, 'failed')]).toEqual(['muted', 'passed']);
    const all = paths.map((_, i) => i);
    expect(result('a.py', all)).toBe('failed');
    expect(result(paths.at(-1)!, all)).toBeNull();
    expect(result(paths.at(-1)!, all.slice(0, -1))).toBe('passed');
  });

  it('misses no file of which a test case was recorded', () => {
    const cases = timelineOf([[batchOf(0, { 'a_spec.rb': null, 'a_spec.rb[1:1]': 4, 'b_spec.rb': null })]]);
    expect(summarize({ recorded: 1 }, cases, minutes({}), BASELINES).line).toMatchObject({ missing: 1, files: 3 });
  });

  it('names a file of which a piece decided the build', () => {
    const timeline = timelineOf([[batchOf(0, { 'a.py::piece 2 of 2': 60 })], [batchOf(0, { 'a.py::piece 1 of 2': 20, b: 1 })]]);
    const { line, ...summary } = summarize({ recorded: 1 }, timeline, minutes({}), BASELINES);
    expect(decidingPath({ ...summary, line: { ...line, decided_by: { path: 'a.py::piece 2 of 2' } } })).toBe('a.py');
  });

  it('of nothing is all zeros', () => {
    const { line, node_seconds } = summarize({ recorded: 1 }, timelineOf([null]), minutes({}), BASELINES);
    expect([line, node_seconds]).toMatchObject([{ wall: 0, files: 0, longest: null, last: null, decided_by: null }, 0]);
    expect(idleShare({ node_seconds: 0, idle_seconds: 0 })).toBe(0);
  });
});
