import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { TimelineAnswer } from '../../protocol/answers/timeline.js';
import { useSurface } from '../parts/charts/surface.js';
import { useWidth } from '../parts/charts/width.js';
import { TimelineCanvas } from './canvas.js';
import type { Picture } from './draw.js';
import { runAt } from './find.js';
import { AXIS_HEIGHT, type Geometry, LEFT, laneAt, laneSize, laneTop, rightMargin, slackOf } from './geometry.js';
import { afterKey, type Current } from './keys.js';
import { lastLane, pieceTexts } from './lanes.js';
import { RunCard } from './run-card.js';
import { axisEnd, pan, type Span, timeAt, zoom } from './view.js';

export interface TimelineProps extends Pick<Picture, 'lanes' | 'selected' | 'matching' | 'nodes'> {
  timeline: TimelineAnswer;
  view: Span | null;
  onView: (view: Span | null) => void;
  onSelect: (span: Span | null) => void;
  onOpen: (path: string) => void;
  project: number;
}

/** Distance that the mouse moves before a press becomes a drag, in pixels. */
const DRAG_FROM = 4;
const WHEEL_ZOOM = 1.005;
/** A notch of a wheel, which is many times a step of two fingers, counts as at most so many pixels. */
const WHEEL_MOST = 60;
/** Time that the hint stays after a turn of the wheel that did not zoom, in milliseconds. */
const HINT = 1500;
/** The height up to which all lanes are printed, in pixels. On a sharp screen the canvas has twice as many: browsers draw no larger one. */
const PAPER_HEIGHT = 8000;

/** The lanes of the nodes to scale. All that the mouse does, keys do as well; a table beside it has the same data. */
export function Timeline({ timeline, lanes, view: chosen, onView, selected, onSelect, matching, nodes, onOpen, project }: TimelineProps) {
  const { wall, floor, is_running: isRunning, paths } = timeline;
  const [box, boxWidth] = useWidth<HTMLDivElement>();
  const [scroll, setScroll] = useState(0);
  const [hovered, setHovered] = useState<Current | null>(null);
  const [focused, setFocused] = useState<Current | null>(null);
  /** The height at which the wheel turned without Ctrl; null: it did not lately. */
  const [turned, setTurned] = useState<number | null>(null);
  useEffect(() => {
    const timer = setTimeout(() => setTurned(null), HINT);
    return () => clearTimeout(timer);
  }, [turned]);
  const press = useRef<{ x: number; time: number; isDrag: boolean } | null>(null);
  const current = hovered ?? focused;
  const last = useMemo(() => (isRunning ? null : lastLane(lanes)), [lanes, isRunning]);

  const pieces = useMemo(() => pieceTexts(paths), [paths]);

  const end = axisEnd(wall, floor, isRunning);
  const view = chosen && chosen.to <= end ? chosen : { from: 0, to: end };
  const { laneHeight, barHeight } = laneSize(lanes.length);
  const whole = AXIS_HEIGHT + lanes.length * laneHeight + 8;
  const width = Math.max(1, boxWidth - LEFT - rightMargin(boxWidth));
  const isOnPaper = useSurface() === 'paper';
  const most = isOnPaper ? PAPER_HEIGHT : Math.max(240, innerHeight - 240);
  const geometry: Geometry = { width, laneHeight, barHeight, scroll: isOnPaper ? 0 : scroll, height: Math.min(whole, most) };

  const show = (view: Span) => onView(view.from <= 0 && view.to >= end ? null : view);
  const at = (event: MouseEvent) => {
    const { left, top } = box.current!.getBoundingClientRect();
    const [x, y] = [event.clientX - left - LEFT, event.clientY - top];
    const time = timeAt(x, view, width);
    const lane = laneAt(y, geometry, lanes.length);
    const run = lane === null || x < 0 || x > width ? null : runAt(lanes[lane]!, time, slackOf(view, width));
    return { x, time: Math.min(end, Math.max(0, time)), current: run === null ? null : { lane: lane!, run } };
  };

  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === 'Enter' && focused) onOpen(paths[lanes[focused.lane]!.file[focused.run]!]!);
    else {
      const sight = afterKey(event.key, event.shiftKey, { view, selected, current: focused }, lanes, end);
      if (!sight) return;
      setHovered(null);
      if (sight.view !== view) show(sight.view);
      if (sight.selected !== selected) onSelect(sight.selected);
      setFocused(sight.current);
      if (sight.current) scrollToLane(box.current!, sight.current.lane, geometry);
    }
    event.preventDefault();
  };

  const onWheel = (event: WheelEvent) => {
    const { x, time } = at(event);
    if (x < 0) return;
    // Two fingers that are spread come as a wheel with Ctrl, too.
    const isZoom = event.ctrlKey || event.metaKey;
    const isSideways = event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY);
    if (!isZoom && !isSideways) {
      setTurned(event.clientY - box.current!.getBoundingClientRect().top);
      return;
    }
    const turn = (isZoom ? event.deltaY : event.deltaX || event.deltaY) * (event.deltaMode === 1 ? 20 : 1);
    const next = isZoom
      ? zoom(view, time, WHEEL_ZOOM ** Math.min(WHEEL_MOST, Math.max(-WHEEL_MOST, turn)), end)
      : pan(view, turn / width, end);
    const isSame = next.from === view.from && next.to === view.to;
    // The browser would zoom the page instead. Where nothing is left to pan to, it may do what it does elsewhere.
    if (isZoom || !isSame) event.preventDefault();
    if (!isSame) show(next);
  };

  const onPointerDown = (event: PointerEvent) => {
    const { x, time } = at(event);
    if (event.button !== 0 || x < 0 || x > width) return;
    press.current = { x, time, isDrag: false };
    if (event.pointerType === 'mouse') box.current!.setPointerCapture(event.pointerId);
  };

  const onPointerMove = (event: PointerEvent) => {
    const { x, time, current } = at(event);
    if (press.current && Math.abs(x - press.current.x) >= DRAG_FROM) press.current.isDrag = true;
    if (press.current?.isDrag) onSelect({ from: Math.min(time, press.current.time), to: Math.max(time, press.current.time) });
    else setHovered(current);
  };

  const onPointerUp = (event: PointerEvent) => {
    const { isDrag } = press.current ?? { isDrag: true };
    press.current = null;
    if (isDrag) return;
    const { current } = at(event);
    if (current) {
      setFocused(current);
      onOpen(paths[lanes[current.lane]!.file[current.run]!]!);
    } else onSelect(null);
  };

  useWheel(box, onWheel);
  return (
    <div class="timeline-frame">
      <div
        class="timeline"
        ref={box}
        role="application"
        aria-label="Timeline of the nodes"
        aria-describedby="timeline-keys"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it takes keys.
        tabIndex={0}
        style={{ height: `${geometry.height}px` }}
        onKeyDown={onKeyDown}
        onScroll={() => setScroll(box.current!.scrollTop)}
        onPointerDown={onPointerDown}
        onPointerMove={onPointerMove}
        onPointerUp={onPointerUp}
        onPointerCancel={() => (press.current = null)}
        onPointerLeave={() => setHovered(null)}
        onBlur={() => setFocused(null)}
      >
        <TimelineCanvas
          picture={{ lanes, matching, wall, floor, isRunning, last, view, selected, pieces, current, nodes }}
          geometry={geometry}
          width={boxWidth}
        />
        <div style={{ height: `${whole - geometry.height}px` }} />
      </div>
      {turned !== null && (
        <p class="run-card" style={{ top: `${turned}px`, right: '8px' }}>
          <kbd>Ctrl</kbd> and wheel zoom
        </p>
      )}
      {current && lanes[current.lane] && current.run < lanes[current.lane]!.to.length && (
        <RunCard
          timeline={timeline}
          lane={lanes[current.lane]!}
          run={current.run}
          project={project}
          view={view}
          width={width}
          top={laneTop(current.lane, geometry) + laneHeight + 4}
        />
      )}
    </div>
  );
}

/** Listens for the wheel so that the page does not scroll as well. */
function useWheel(box: { current: HTMLElement | null }, onWheel: (event: WheelEvent) => void): void {
  const latest = useRef(onWheel);
  latest.current = onWheel;
  useEffect(() => {
    const element = box.current!;
    const listener = (event: WheelEvent) => latest.current(event);
    element.addEventListener('wheel', listener, { passive: false });
    return () => element.removeEventListener('wheel', listener);
  }, [box]);
}

function scrollToLane(box: HTMLElement, lane: number, { laneHeight, height }: Geometry): void {
  const top = lane * laneHeight;
  if (top < box.scrollTop) box.scrollTop = top;
  else if (top + laneHeight > box.scrollTop + height - AXIS_HEIGHT) box.scrollTop = top + laneHeight - height + AXIS_HEIGHT;
}
