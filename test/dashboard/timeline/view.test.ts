import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { axisLabels } from '../../../src/dashboard/timeline/axis-labels.js';
import { laneAt, lanesInSight, laneTop } from '../../../src/dashboard/timeline/geometry.js';
import { afterKey, type Sight } from '../../../src/dashboard/timeline/keys.js';
import { lanesOf } from '../../../src/dashboard/timeline/lanes.js';
import { axisEnd, pan, parseSpan, reveal, spanText, timeAt, xOf, zoom } from '../../../src/dashboard/timeline/view.js';
import { node, span } from './answers.js';

const END = 600;
const views = fc
  .tuple(fc.double({ min: 0, max: 590, noNaN: true }), fc.double({ min: 0.1, max: 600, noNaN: true }))
  .map(([from, length]) => ({
    from: Math.min(from, END - Math.min(length, END)),
    to: Math.min(from, END - Math.min(length, END)) + Math.min(length, END),
  }));

describe('the axis', () => {
  const widthOf = (text: string) => 7 * text.length;
  const axis = (floor: number | null, width: number) => axisLabels({ from: 0, to: 3000 }, width, floor, widthOf);
  const textsOf = ({ ticks }: ReturnType<typeof axis>) => ticks.map(({ text }) => text);

  it('names the floor as the first lines of the page do, with its seconds', () => {
    expect(axis(2712, 960).floor).toEqual({ text: 'floor 45 m 12 s', x: (2712 / 3000) * 960 });
  });

  it('has no time that the name of the floor would cover', () => {
    expect(textsOf(axis(2712, 960))).toEqual(['0', '5 m', '10 m', '15 m', '20 m', '25 m', '30 m', '35 m', '40 m', '', '50 m']);
    expect(textsOf(axis(null, 400))).toEqual(['0', '15 m', '30 m', '45 m']);
    expect(textsOf(axis(2712, 220))).toEqual(['0', '']);
  });

  it('keeps the name of the floor within the drawing', () => {
    const { x, text } = axis(3000, 400).floor!;
    expect(x + widthOf(text) / 2).toBeLessThanOrEqual(408);
    expect(axis(0, 400).floor!.x - widthOf('floor 0 s') / 2).toBeGreaterThanOrEqual(-36);
  });
});

describe('a view', () => {
  it('turns times into pixels and back', () => {
    const view = { from: 100, to: 300 };
    expect([xOf(100, view, 500), xOf(200, view, 500), timeAt(500, view, 500)]).toEqual([0, 250, 300]);
  });

  it('zooms around a time, which stays where it is, unless the build ends there', () => {
    expect(zoom({ from: 100, to: 300 }, 150, 0.5, END)).toEqual({ from: 125, to: 225 });
    expect(zoom({ from: 0, to: 200 }, 0, 10, END)).toEqual({ from: 0, to: END });
  });

  it('stays within the build, however it is moved', () => {
    const moves = fc.array(fc.tuple(fc.boolean(), fc.double({ min: -3, max: 3, noNaN: true })), { maxLength: 20 });
    fc.assert(
      fc.property(views, moves, (view, moves) => {
        for (const [isZoom, by] of moves) {
          view = isZoom ? zoom(view, timeAt(30, view, 100), 2 ** by, END) : pan(view, by, END);
          expect(view.from >= 0 && view.to <= END + 1e-6 && view.to - view.from >= 0.0199).toBe(true);
        }
      }),
    );
  });

  it('moves no further than is necessary to show a run', () => {
    const view = { from: 100, to: 200 };
    expect(reveal(view, { from: 120, to: 130 }, END)).toEqual(view);
    expect(reveal(view, { from: 250, to: 260 }, END)).toEqual({ from: 165, to: 265 });
    expect(reveal(view, { from: 50, to: 60 }, END)).toEqual({ from: 45, to: 145 });
  });

  it('stands in the address', () => {
    expect(spanText({ from: 250, to: 360.12349 })).toBe('250-360.123');
    expect(parseSpan('250-360.123')).toEqual({ from: 250, to: 360.123 });
    for (const text of [null, '', '5', '9-5', '-1-5', '1e9-2e9', 'a-b', '5-5']) expect(parseSpan(text)).toBeNull();
  });

  it('of a running build ends at a time that stays for a while', () => {
    const ends = Array.from({ length: 60 }, (_, i) => axisEnd(300 + i, 0, true));
    expect(new Set(ends).size).toBeLessThanOrEqual(2);
    for (const [i, end] of ends.entries()) expect(end).toBeGreaterThan(300 + i);
    expect(axisEnd(100, 120, false)).toBeCloseTo(122.4);
  });
});

describe('the lanes on the canvas', () => {
  const geometry = { width: 100, laneHeight: 16, barHeight: 12, scroll: 40, height: 200 };

  it('are found by the height', () => {
    for (const lane of [3, 7]) expect(laneAt(laneTop(lane, geometry) + 1, geometry, 50)).toBe(lane);
    expect([laneAt(5, geometry, 50), laneAt(190, geometry, 5)]).toEqual([null, null]);
  });

  it('in sight are drawn, and no others', () => {
    expect(lanesInSight(geometry, 200)).toEqual({ first: 2, end: 14 });
    expect(lanesInSight(geometry, 3)).toEqual({ first: 2, end: 3 });
  });
});

describe('the keys of the timeline', () => {
  const batch = (from: number, files: number[]) => span({ from, to: from + 100, files, seconds: files.map(() => 10) });
  const lanes = lanesOf({
    kind: 'queue',
    nodes: [
      node([batch(0, [0, 1, 2])]),
      node([], { node_index: 1, start: null, end: null, recorded: false }),
      node([batch(5, [3, 4])], { node_index: 2 }),
    ],
    estimates: [10, 10, 10, 10, 10],
    is_guess: [],
    is_running: false,
  });
  const whole: Sight = { view: { from: 0, to: END }, selected: null, current: null };
  const press = (keys: string, sight = whole) =>
    keys.split(' ').reduce((sight, key) => {
      const [, shift, name] = /^(Shift\+)?(.+)$/.exec(key)!;
      return afterKey(name!, shift !== undefined, sight, lanes, END) ?? sight;
    }, sight);

  it('zoom and pan', () => {
    expect(press('w').view).toEqual({ from: 100, to: 500 });
    expect(press('w d').view).toEqual({ from: 180, to: 580 });
    expect(press('w a s').view).toEqual(whole.view);
  });

  it('go from file to file, and to the next node that has one at that time', () => {
    expect(press('ArrowRight').current).toEqual({ lane: 0, run: 0 });
    expect(press('ArrowRight ArrowRight').current).toEqual({ lane: 0, run: 1 });
    expect(press('ArrowRight ArrowRight ArrowDown').current).toEqual({ lane: 2, run: 1 });
    expect(press('ArrowRight ArrowRight ArrowDown ArrowUp ArrowLeft ArrowLeft ArrowLeft').current).toEqual({ lane: 0, run: 0 });
  });

  it('select a span of files, and escape goes back step by step', () => {
    const selected = press('ArrowRight Shift+ArrowRight w');
    expect(selected.selected).toEqual({ from: 0, to: 20 });
    expect(press('Escape', selected)).toMatchObject({ selected: null, current: { lane: 0, run: 1 } });
    expect(press('Escape Escape', selected)).toMatchObject({ selected: null, current: null });
    expect(press('Escape Escape Escape', selected)).toEqual(whole);
    expect(afterKey('Escape', false, whole, lanes, END)).toBeNull();
  });

  it('that have no meaning are left to the browser', () => {
    expect(afterKey('Tab', false, whole, lanes, END)).toBeNull();
  });

  it('do nothing in a build without files', () => {
    expect(afterKey('ArrowRight', false, whole, [], END)).toEqual(whole);
  });
});
