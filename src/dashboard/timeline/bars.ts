import { firstAfter } from './find.js';
import { FAILED, FLAKY, type Lane, OVER, RUNNING, UNRECORDED } from './lanes.js';
import { type Span, xOf } from './view.js';

export type BarKind = 'work' | 'over' | 'failed' | 'flaky' | 'unrecorded' | 'running';

/** A rectangle of a lane. Pixels from the left end of the view. */
export interface Bar {
  kind: BarKind;
  x: number;
  width: number;
  /** The run that it shows alone; null: several runs that are narrower than a pixel each. */
  run: number | null;
}

/** Narrower runs are drawn together. In pixels. */
const SMALLEST = 1.5;

/**
 * Returns what of a lane is drawn in a view: at most about two bars for each pixel, whatever the number of runs. A group of narrow runs
 * shows that one failed, or was flaky, or else what most of its time is.
 */
export function barsOf(lane: Lane, view: Span, width: number): Bar[] {
  const bars: Bar[] = [];
  let group: { from: number; to: number; seconds: Record<BarKind, number> } | null = null;
  const close = () => {
    if (group) bars.push(groupBar(group, view, width));
    group = null;
  };
  const second = width / (view.to - view.from);
  for (let run = firstAfter(lane, view.from); run < lane.to.length; run++) {
    const [from, to] = [lane.from[run]!, lane.to[run]!];
    if (from >= view.to) break;
    if ((to - from) * second >= SMALLEST) {
      close();
      addRun(bars, lane, run, view, width);
      continue;
    }
    // A gap between narrow runs stays to be seen where it is as wide as they are together.
    if (group && ((from - group.to) * second >= SMALLEST || (to - group.from) * second >= 2 * SMALLEST)) close();
    group ??= { from, to, seconds: { work: 0, over: 0, failed: 0, flaky: 0, unrecorded: 0, running: 0 } };
    group.to = to;
    // A run without a duration counts as well.
    group.seconds[kindOf(lane.flags[run]!)] += to - from || Number.MIN_VALUE;
  }
  close();
  return bars;
}

/** A meaning that something in the lanes has. */
export type Mark = BarKind | 'late' | 'gap' | 'idle' | 'repeated';

/** Less than this many seconds is nothing. */
const SMALLEST_GAP = 0.0005;

/** Returns what there is to see in the lanes. */
export function marksIn(lanes: readonly Lane[], wall: number, isRunning: boolean): ReadonlySet<Mark> {
  const marks = new Set<Mark>();
  for (const { start, isMissed, end, flags, batches } of lanes) {
    for (const each of flags) marks.add(kindOf(each));
    if (isMissed || (start !== null && start > 0)) marks.add('late');
    if (!isRunning && end !== null && end < wall) marks.add('idle');
    if (batches.some(({ filesEnd, to }) => to - filesEnd > SMALLEST_GAP)) marks.add('gap');
    if (batches.some(({ isRepeat }) => isRepeat)) marks.add('repeated');
  }
  return marks.has('over') ? marks.add('work') : marks;
}

function kindOf(flags: number): BarKind {
  if (flags & FLAKY) return 'flaky';
  if (flags & FAILED) return 'failed';
  if (flags & UNRECORDED) return 'unrecorded';
  if (flags & RUNNING) return 'running';
  return flags & OVER ? 'over' : 'work';
}

/** A run over its estimate has two bars: until its estimate it is work. */
function addRun(bars: Bar[], lane: Lane, run: number, view: Span, width: number): void {
  const kind = kindOf(lane.flags[run]!);
  const [x, end] = [xOf(lane.from[run]!, view, width), xOf(lane.to[run]!, view, width)];
  if (kind !== 'over') {
    bars.push({ kind, x, width: end - x, run });
    return;
  }
  const middle = xOf(lane.expected[run]!, view, width);
  bars.push({ kind: 'work', x, width: middle - x, run }, { kind, x: middle, width: end - middle, run });
}

function groupBar({ from, to, seconds }: { from: number; to: number; seconds: Record<BarKind, number> }, view: Span, width: number): Bar {
  const most = (Object.keys(seconds) as BarKind[]).reduce((most, kind) => (seconds[kind] > seconds[most] ? kind : most), 'work');
  const kind = (['failed', 'flaky'] as const).find(each => seconds[each] > 0) ?? most;
  const x = xOf(from, view, width);
  return { kind, x, width: Math.max(1, xOf(to, view, width) - x), run: null };
}
