import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { columnAfter, columnAt, columnOf, curveOf, xOf } from '../../../../src/dashboard/pages/what-if/curve.js';
import { difference, piecesText, whatIfSentences } from '../../../../src/dashboard/pages/what-if/sentences.js';
import type { NodeCountsAnswer, Variant, WhatIfAnswer } from '../../../../src/protocol/answers/what-if.js';

const frame = { width: 1000, height: 300, left: 60, right: 60, top: 20, bottom: 30 };

const variant = (nodes: number, wall: number, more: Partial<Variant> = {}): Variant => ({
  nodes,
  wall,
  job_seconds: nodes * wall,
  price: null,
  floor: wall,
  ratio: 1,
  bound_by_file: false,
  measured: null,
  ...more,
});

describe('the curve of numbers of nodes', () => {
  const variants = [variant(2, 600), variant(4, 320, { measured: 330 }), variant(8, 200)];

  it('has a column for each number, and a dot where a build measured it', () => {
    const curve = curveOf(variants, frame, 320);
    expect(curve.bars).toHaveLength(3);
    expect(curve.line.match(/[ML]/g)).toHaveLength(3);
    expect(curve.measured.map(({ nodes }) => nodes)).toEqual([4]);
    // Up is longer.
    expect(curve.ys[0]!).toBeLessThan(curve.ys[2]!);
  });

  it('stays in its frame, whatever the times', () => {
    const times = fc.array(fc.double({ min: 0, max: 1e7, noNaN: true }), { minLength: 1, maxLength: 64 });
    fc.assert(
      fc.property(times, walls => {
        const curve = curveOf(
          walls.map((wall, i) => variant(i + 1, wall)),
          frame,
          walls[0]!,
        );
        for (const y of curve.ys) expect(y >= frame.top && y <= frame.height - frame.bottom).toBe(true);
        for (const { x, y, width, height } of curve.bars) {
          expect(x >= frame.left - 1 && x + width <= frame.width - frame.right + 1).toBe(true);
          expect(y >= frame.top && y + height <= frame.height - frame.bottom + 0.2).toBe(true);
        }
        for (const ticks of [curve.wallTicks, curve.workTicks]) expect(ticks.length >= 1 && ticks.length <= 7).toBe(true);
      }),
    );
  });

  it('shows the numbers of nodes around that of the build, also where few nodes take much longer', () => {
    const curve = curveOf([variant(1, 10_000), variant(10, 1000), variant(11, 900)], frame, 1000);
    expect(curve.ys[0]).toBe(frame.top);
    expect(curve.ys[2]! - curve.ys[1]!).toBeGreaterThan(5);
    expect(curve.wallTicks.at(-1)!.seconds).toBeLessThanOrEqual(3000);
  });

  it('puts the handle on the column under the pointer, and on the last one beyond', () => {
    expect(curveOf(variants, frame, 320).xs.map(x => columnAt(x, 3, frame))).toEqual([0, 1, 2]);
    expect([columnAt(-50, 3, frame), columnAt(5000, 3, frame)]).toEqual([0, 2]);
  });

  it('moves the handle by keys', () => {
    expect(columnAfter('ArrowRight', 0, 3)).toBe(1);
    expect(columnAfter('ArrowLeft', 0, 3)).toBe(0);
    expect(columnAfter('End', 0, 3)).toBe(2);
    expect(columnAfter('PageDown', 2, 3)).toBe(0);
    expect(columnAfter('Tab', 0, 3)).toBeNull();
  });

  it('finds the nearest number of nodes', () => {
    expect(columnOf(variants, 5)).toBe(1);
    expect(columnOf(variants, 100)).toBe(2);
  });

  it('has a number that is no column between its neighbours, and none beyond the last', () => {
    const curve = curveOf(variants, frame, 320);
    const [first, second, last] = curve.xs as [number, number, number];
    expect([1, 2, 3, 4, 5, 8].map(nodes => Math.round(xOf(variants, curve, nodes)!))).toEqual([
      ...[first, first, (first + second) / 2, second, second + (last - second) / 4, last].map(Math.round),
    ]);
    expect(xOf(variants, curve, 9)).toBeNull();
  });

  it('has the target as a line where the frame reaches it', () => {
    expect(curveOf(variants, frame, 320, 200).targetY).toBeCloseTo(curveOf(variants, frame, 320).ys[2]!, 6);
    expect(curveOf(variants, frame, 320, 5000).targetY).toBeNull();
    expect(curveOf(variants, frame, 320, null).targetY).toBeNull();
  });
});

describe('the first line of what-if', () => {
  const last = { sentence: '17 nodes: …', remarks: ['More bring little.'] } as NodeCountsAnswer;
  const played = (saves: number, in_pieces: boolean) =>
    ({ variants: [variant(20, 400)], node_count: 20, pieces: { files: 2, saves }, assumptions: { in_pieces } }) as WhatIfAnswer;
  const GAIN = 'With 2 files in pieces, 20 nodes end 3 m 20 s sooner: add --pieces to ballast queue.';

  it.each([
    ['says what pieces would bring', played(200, false), false, [GAIN]],
    ['says no more of pieces that bring little', played(5, false), false, []],
    ['says no more of pieces that are played', played(200, true), false, []],
    ['says no more of pieces that a reader took away', played(200, false), true, []],
  ])('%s', (_, answer, areChosen, more) => {
    expect(whatIfSentences(last, answer, areChosen)).toEqual([last.sentence, ...last.remarks, ...more]);
  });

  it('says what pieces bring beside their switch', () => {
    const text = (pieces: WhatIfAnswer['pieces']) => piecesText({ node_count: 1, pieces });
    expect(text(null)).toBe('');
    expect(text({ files: 0, saves: 0 })).toBe('No file is worth cutting on 1 node');
    expect(text({ files: 1, saves: 0.2 })).toBe('With 1 file in pieces, 1 node ends no sooner');
    expect(text({ files: 1, saves: -4 })).toBe('With 1 file in pieces, 1 node ends 4.0 s later');
  });

  it('says what a number of nodes gains and costs', () => {
    expect(difference(variant(14, 482), variant(12, 550))).toBe('68 s sooner, for 2 node-minutes more');
    expect(difference(variant(12, 550), variant(12, 550))).toBe('as in the build');
    expect(difference(variant(10, 660), variant(12, 550))).toBe('1 m 50 s later, for as many node-minutes');
  });
});
