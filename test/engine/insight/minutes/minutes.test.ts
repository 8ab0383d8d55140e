import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Minutes, minutesOf, PART_NAMES, type PartName } from '../../../../src/engine/insight/minutes/minutes.js';
import type { Timeline } from '../../../../src/engine/insight/timeline/timeline.js';
import { timelines } from '../any-timeline.js';
import { type Batch, timelineOf } from '../lanes.js';

const sum = (numbers: Iterable<number>) => [...numbers].reduce((total, each) => total + each, 0);

/** The parts that are not 0, in seconds. */
function partsOf(minutes: Minutes): Partial<Record<PartName, number>> {
  return Object.fromEntries(
    minutes.parts.filter(({ milliseconds }) => milliseconds > 0).map(({ name, milliseconds }) => [name, milliseconds / 1000]),
  );
}

/** A batch of files of some seconds each, named after the node, that begins at `from`. */
function files(node: number, seconds: readonly number[], from: number, gap = 0): Batch {
  return { files: seconds.map((_, i) => `${node}-${from}-${i}.rb`), seconds: [...seconds], from, to: from + sum(seconds) + gap };
}

const TEN = Array<number>(10).fill(10);
const estimated = (...batches: Batch[]) => Object.fromEntries(batches.flatMap(batch => batch.files.map(path => [path, 10])));

describe('the minutes of a build', () => {
  it('are an even share when all nodes work until the end', () => {
    expect(partsOf(minutesOf(timelineOf([[files(0, TEN, 0)], [files(1, TEN, 0)]])))).toEqual({ even_share: 100 });
  });

  it('name a slow node', () => {
    const batches = [0, 1, 2, 3].map(node => files(node, node === 2 ? TEN.map(each => each * 1.5) : TEN, 0));
    const minutes = minutesOf(
      timelineOf(
        batches.map(batch => [batch]),
        estimated(...batches),
      ),
    );
    expect([minutes.wall, minutes.floor, partsOf(minutes)]).toEqual([150_000, 100_000, { even_share: 100, slow_nodes: 50 }]);
    expect(minutes.parts[PART_NAMES.indexOf('slow_nodes')]!.nodes).toEqual([{ node_index: 2, milliseconds: 200_000 }]);
    expect(minutes.nodes.map(({ slowness }) => Number(slowness!.toFixed(3)))).toEqual([1, 1, 1.5, 1]);
  });

  it('name a slow node for which the queue made up', () => {
    const slow = Array<number>(8).fill(15);
    const batches = [0, 1, 2].map(node => files(node, Array<number>(12).fill(10), 0));
    const minutes = minutesOf(
      timelineOf([...batches.map(batch => [batch]), [files(3, slow, 0)]], estimated(...batches, files(3, slow, 0))),
    );
    expect(partsOf(minutes)).toEqual({ even_share: 110, slow_nodes: 10 });
  });

  it('name a late node', () => {
    const minutes = minutesOf(timelineOf([[files(0, TEN, 0)], [files(1, TEN, 30)], [files(2, TEN, 0)]]));
    expect(partsOf(minutes)).toEqual({ even_share: 100, late_starts: 30 });
    expect(minutes.parts[PART_NAMES.indexOf('late_starts')]!.nodes).toEqual([{ node_index: 1, milliseconds: 90_000 }]);
  });

  it('name a late node for which the queue made up', () => {
    const minutes = minutesOf(timelineOf([[files(0, [...TEN, 10], 0)], [files(1, TEN, 10)]]));
    expect(partsOf(minutes)).toEqual({ even_share: 105, late_starts: 5 });
  });

  it('name a node that never started', () => {
    expect(partsOf(minutesOf(timelineOf([[files(0, TEN, 0)], null])))).toEqual({ even_share: 50, late_starts: 50 });
  });

  it('name an estimate that was wrong', () => {
    const batches = [0, 1, 2, 3].map(node => files(node, node === 1 ? [30, ...TEN.slice(1)] : TEN, 0));
    const minutes = minutesOf(
      timelineOf(
        batches.map(batch => [batch]),
        estimated(...batches),
      ),
    );
    expect(partsOf(minutes)).toEqual({ even_share: 105, estimates: 15 });
    expect(minutes.parts[PART_NAMES.indexOf('estimates')]!.nodes).toEqual([{ node_index: 1, milliseconds: 60_000 }]);
  });

  it('name a file that is longer than an even share', () => {
    const minutes = minutesOf(timelineOf([[files(0, [90], 0)], [files(1, [20, 10], 20)], [files(2, [30], 0)]]));
    expect([minutes.floor, partsOf(minutes)]).toEqual([90_000, { even_share: 50, longest_file: 40 }]);
  });

  it('name what delayed the file that decides', () => {
    const minutes = minutesOf(timelineOf([[files(0, [90], 20)], [files(1, [20, 10], 0)], [files(2, [30], 0)]]));
    expect(partsOf(minutes)).toEqual({ even_share: 50, longest_file: 40, late_starts: 20 });
  });

  it('name the gaps between batches', () => {
    const spans = (node: number) => [0, 30, 60].map(from => files(node, [10, 10], from, 10));
    expect(partsOf(minutesOf(timelineOf([spans(0), spans(1)])))).toEqual({ even_share: 60, gaps: 30 });
  });

  it('name files that ran again', () => {
    const first = files(0, TEN, 0);
    const minutes = minutesOf(timelineOf([[first, { ...first, from: 100, to: 200 }], [files(1, TEN, 0)]]));
    expect(partsOf(minutes)).toEqual({ even_share: 100, repeats: 100 });
  });

  it('name a node that came back to run its files again, with the wait for it', () => {
    const first = files(0, TEN.slice(4), 0);
    const minutes = minutesOf(
      timelineOf([
        [
          { ...first, seconds: first.seconds.map(() => NaN) },
          { ...first, from: 80, to: 140 },
        ],
        [files(1, TEN, 0)],
      ]),
    );
    // Node 0 lost 60 seconds, waited 20, and without both, node 1 would have shared its files.
    expect(partsOf(minutes)).toEqual({ even_share: 80, gaps: 10, repeats: 50 });
  });

  it('name each cause when nodes end late for different ones', () => {
    const slow = files(0, Array<number>(10).fill(15), 0);
    const late = files(1, TEN, 30);
    const long = files(2, [30, ...TEN.slice(1)], 0);
    const usual = [3, 4, 5].map(node => files(node, TEN, 0));
    const batches = [slow, late, long, ...usual];
    const minutes = minutesOf(
      timelineOf(
        batches.map(batch => [batch]),
        estimated(...batches),
      ),
    );
    expect(minutes.wall).toBe(150_000);
    expect(Object.keys(partsOf(minutes)).sort()).toEqual(['estimates', 'even_share', 'late_starts', 'slow_nodes']);
  });

  it('name a node that was lost and whose files ran again at the end', () => {
    const lost = files(0, [20, 20], 0);
    const timeline = timelineOf([
      [{ ...lost, seconds: [NaN, NaN] }],
      [files(1, [40], 0), { ...lost, from: 60, to: 100 }],
      [files(2, [60], 0)],
    ]);
    Object.assign(timeline.nodes[0]!, { recordedAt: null });
    // 20 seconds that node 1 waited for the lease are a gap.
    expect(partsOf(minutesOf(timeline))).toEqual({ even_share: 46.667, gaps: 6.667, longest_file: 13.333, repeats: 33.333 });
  });

  it('scale the times of files that ran side by side', () => {
    const parallel = { ...files(0, TEN, 0), to: 50 };
    const minutes = minutesOf(timelineOf([[parallel], [files(1, TEN.slice(5), 0)]]));
    expect(partsOf(minutes)).toEqual({ even_share: 50 });
  });

  it('of a build in which nothing ran are none', () => {
    const minutes = minutesOf(timelineOf([null, null]));
    expect([minutes.wall, minutes.floor, partsOf(minutes)]).toEqual([0, 0, {}]);
  });

  it('have a part of idle time that no cause explains', () => {
    expect(partsOf(minutesOf(timelineOf([[files(0, TEN, 0)], [files(1, TEN.slice(2), 0)]])))).toEqual({ even_share: 90, idle: 10 });
  });
});

describe('the minutes of any build', () => {
  it('add up to its wall time, and no part is negative', () => {
    fc.assert(fc.property(timelines, areAdded), { numRuns: 200 });
  });

  it('have a floor that is the work and the longest file, and nodes that lost the rest', () => {
    fc.assert(
      fc.property(timelines, timeline => {
        const { floor, wall, parts, nodes } = minutesOf(timeline);
        const [even, longest] = parts;
        expect(floor).toBe(even!.milliseconds + longest!.milliseconds);
        expect(floor).toBeLessThanOrEqual(wall);
        const lost = sum(parts.slice(2).flatMap(part => part.nodes.map(({ milliseconds }) => milliseconds)));
        expect(Math.abs(lost - (wall - floor) * nodes.length)).toBeLessThan(8 * nodes.length + 1);
        // Slow nodes would take less at usual speed.
        expect(even!.milliseconds * nodes.length).toBeLessThanOrEqual(sum(nodes.map(({ work }) => work)) + nodes.length + 0.001);
      }),
    );
  });
});

function areAdded(timeline: Timeline): void {
  const { wall, parts, nodes } = minutesOf(timeline);
  expect(wall).toBe(timeline.end - timeline.start);
  expect(sum(parts.map(({ milliseconds }) => milliseconds))).toBe(wall);
  for (const { milliseconds, nodes: causes } of parts) {
    expect(Number.isInteger(milliseconds) && milliseconds >= 0).toBe(true);
    for (const cause of causes) expect(cause.milliseconds).toBeGreaterThanOrEqual(0);
  }
  for (const { late, work, repeats, gaps, idle } of nodes) {
    expect(Math.min(late, work, repeats, gaps, idle)).toBeGreaterThanOrEqual(0);
    expect(Math.abs(late + work + repeats + gaps + idle - wall)).toBeLessThan(1);
  }
}
