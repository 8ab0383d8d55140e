import { firstAfter } from './find.js';
import type { Lane } from './lanes.js';
import { pan, reveal, type Span, zoom } from './view.js';

/** The run that has the focus: indices of its lane and within it. */
export interface Current {
  lane: number;
  run: number;
}

/** The values that keys change. */
export interface Sight {
  view: Span;
  selected: Span | null;
  current: Current | null;
}

const ZOOM = 1.5;
const STEP = 0.2;

/** Returns what is seen after a key; null: the key has no meaning here. */
export function afterKey(key: string, hasShift: boolean, sight: Sight, lanes: readonly Lane[], end: number): Sight | null {
  const { view, selected, current } = sight;
  const middle = current ? lanes[current.lane]!.from[current.run]! : (view.from + view.to) / 2;
  const at = middle >= view.from && middle <= view.to ? middle : (view.from + view.to) / 2;
  switch (key) {
    case 'w':
    case '+':
      return { ...sight, view: zoom(view, at, 1 / ZOOM, end) };
    case 's':
    case '-':
      return { ...sight, view: zoom(view, at, ZOOM, end) };
    case 'a':
      return { ...sight, view: pan(view, -STEP, end) };
    case 'd':
      return { ...sight, view: pan(view, STEP, end) };
    case 'ArrowLeft':
    case 'ArrowRight':
    case 'ArrowUp':
    case 'ArrowDown': {
      const next = neighbour(key, current, lanes, view);
      if (!next) return sight;
      const run = runSpan(lanes, next);
      const from = current && hasShift ? union(selected ?? runSpan(lanes, current), run) : selected;
      return { view: reveal(view, run, end), selected: from, current: next };
    }
    case 'Escape':
      // Back by one step: the span, then the focus, then the whole build.
      if (selected) return { ...sight, selected: null };
      if (current) return { ...sight, current: null };
      return view.from > 0 || view.to < end ? { ...sight, view: { from: 0, to: end } } : null;
    default:
      return null;
  }
}

/** Returns the run that an arrow key leads to: in its lane, or at the same time in the next lane that has runs. */
function neighbour(key: string, current: Current | null, lanes: readonly Lane[], view: Span): Current | null {
  if (!current || !(current.run < lanes[current.lane]!.to.length)) {
    const lane = lanes.findIndex(({ to }) => to.length > 0);
    return lane < 0 ? null : { lane, run: Math.min(firstAfter(lanes[lane]!, view.from), lanes[lane]!.to.length - 1) };
  }
  const { lane, run } = current;
  if (key === 'ArrowLeft' || key === 'ArrowRight') {
    const next = run + (key === 'ArrowLeft' ? -1 : 1);
    return next < 0 || next >= lanes[lane]!.to.length ? null : { lane, run: next };
  }
  const time = (lanes[lane]!.from[run]! + lanes[lane]!.to[run]!) / 2;
  const step = key === 'ArrowUp' ? -1 : 1;
  for (let next = lane + step; next >= 0 && next < lanes.length; next += step) {
    const runs = lanes[next]!.to.length;
    if (runs > 0) return { lane: next, run: Math.min(firstAfter(lanes[next]!, time), runs - 1) };
  }
  return null;
}

function runSpan(lanes: readonly Lane[], { lane, run }: Current): Span {
  return { from: lanes[lane]!.from[run]!, to: lanes[lane]!.to[run]! };
}

function union(a: Span, b: Span): Span {
  return { from: Math.min(a.from, b.from), to: Math.max(a.to, b.to) };
}
