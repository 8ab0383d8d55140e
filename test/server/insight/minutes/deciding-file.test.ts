import { describe, expect, it } from 'vitest';
import { decidingFile } from '../../../../src/server/insight/minutes/last-node.js';
import { minutesOf } from '../../../../src/server/insight/minutes/minutes.js';
import { verdictOf } from '../../../../src/server/insight/minutes/verdict.js';
import { type Batch, batchOf, timelineOf } from '../lanes.js';

/** The file that decided a build, and whether the verdict names it. */
function deciding(nodes: readonly (readonly Batch[])[], estimates: Record<string, number> = {}) {
  const timeline = timelineOf(nodes, estimates);
  const minutes = minutesOf(timeline);
  const file = decidingFile(timeline, minutes);
  const path = file === null ? null : timeline.paths[file]!;
  return [path, path !== null && verdictOf(timeline, minutes, { missing: [], failed: null, flaky: [] }).paths.includes(path)];
}

describe('the file that decided a build', () => {
  it('is the longest one if it takes more than an even share', () => {
    expect(deciding([[batchOf(0, { long: 30 })], [batchOf(0, { a: 5, b: 5 })]])).toEqual(['long', true]);
    expect(deciding([[batchOf(0, { long: 30 })], [batchOf(0, { a: 14, b: 15 })]])).toEqual([null, false]);
  });

  it('is none if a slow node ended last: neither the longest one at usual speed, nor one that took long on that node', () => {
    const tens = (paths: string, seconds: number) => Object.fromEntries([...paths].map(path => [path, seconds]));
    const nodes = [[batchOf(0, { big: 100 })], [batchOf(0, { ...tens('abcdef', 70), slow: 112 })], [batchOf(0, tens('ghijkl', 10))]];
    expect(deciding(nodes, { ...tens('abcdefghijkl', 10), big: 100, slow: 16 })).toEqual([null, false]);
  });

  it('is else the one that made the last node late', () => {
    const nodes = [[batchOf(0, { a: 10, b: 10 })], [batchOf(0, { c: 12, d: 18 })]];
    expect(deciding(nodes, { a: 10, b: 10, c: 11, d: 9 })).toEqual(['d', true]);
    // Two files share the overrun, and the larger part is less than half of the delay.
    expect(deciding(nodes, { a: 10, b: 10, c: 7.5, d: 13.5 })).toEqual([null, false]);
  });

  it('is none when the last node was hardly late, began late, or is the only one', () => {
    expect(deciding([[batchOf(0, { a: 10 })], [batchOf(0, { b: 4, c: 7.9 })]], { b: 1 })).toEqual([null, false]);
    expect(deciding([[batchOf(0, { a: 10, b: 10 })], [batchOf(30, { c: 8, d: 12 })]], { a: 10, b: 10, c: 8, d: 11 })).toEqual([
      null,
      false,
    ]);
    expect(deciding([[batchOf(0, { a: 10 })]], { a: 1 })).toEqual([null, false]);
  });
});
