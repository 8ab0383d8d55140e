import { useRef } from 'preact/hooks';
import type { Variant } from '../../../protocol/answers/what-if.js';
import { useWidth } from '../../parts/charts/width.js';
import { count, duration, number, offset } from '../../text/format.js';
import { type Curve, columnAfter, columnAt, curveOf, type Frame, xOf } from './curve.js';

const HEIGHT = 360;
/** The width of the grip, which has the number of nodes at the handle. */
const GRIP = 24;
/** The room for the text of the mark. */
const MARK_TEXT = 140;

interface Props {
  variants: readonly Variant[];
  /** Indices of variants: at the handle, and of the build. */
  chosen: number;
  today: number;
  /** A number of nodes, which need not be that of a variant, and what is said of it. */
  mark: { nodes: number; text: string };
  /** Wall time to reach; null: none is set. */
  target: number | null;
  onChoose: (index: number) => void;
}

/** Wall time as a line and node-minutes as bars over the number of nodes. Drag the handle, or move it with the arrow keys. */
export function Chart(props: Props) {
  const [box, width] = useWidth<HTMLDivElement>();
  return (
    <div class="what-if-chart" ref={box}>
      {width > 0 && <Drawing {...props} width={width} />}
    </div>
  );
}

function Drawing({ variants, chosen, today, mark, target, onChoose, width }: Props & { width: number }) {
  const margin = width < 600 ? 44 : 64;
  const frame: Frame = { width, height: HEIGHT, left: margin, right: margin, top: 72, bottom: 44 };
  const curve = curveOf(variants, frame, variants[today]!.wall, target);
  const markX = xOf(variants, curve, mark.nodes);
  const svg = useRef<SVGSVGElement>(null);
  const choose = (event: PointerEvent) => {
    const { left } = svg.current!.getBoundingClientRect();
    onChoose(columnAt(event.clientX - left, variants.length, frame));
  };
  return (
    <svg
      ref={svg}
      width={width}
      height={HEIGHT}
      viewBox={`0 0 ${width} ${HEIGHT}`}
      onPointerDown={event => {
        if (event.button !== 0) return;
        svg.current!.setPointerCapture(event.pointerId);
        choose(event);
      }}
      onPointerMove={event => event.buttons === 1 && choose(event)}
    >
      <title>Wall time and node-minutes by the number of nodes</title>
      <Axes curve={curve} frame={frame} handle={curve.xs[chosen]!} />
      {curve.bars.map((bar, i) => (
        <rect key={variants[i]!.nodes} class={i === chosen ? 'work chosen' : 'work'} {...bar} />
      ))}
      {markX !== null && <Mark x={markX} frame={frame} text={`${number(mark.nodes)}: ${mark.text}`} isLast={markX > width / 2} />}
      {curve.targetY !== null && (
        <g class="target">
          <path d={`M${margin} ${Math.round(curve.targetY) + 0.5}H${width - margin}`} />
          <text x={width - margin - 4} y={curve.targetY - 6} text-anchor="end">
            target {duration(target)}
          </text>
        </g>
      )}
      <clipPath id="what-if-frame">
        <rect x={0} y={frame.top} width={width} height={HEIGHT} />
      </clipPath>
      <path class="wall" d={curve.line} clip-path="url(#what-if-frame)" />
      {curve.measured.map(({ x, y, nodes }) => (
        <circle key={nodes} class="measured" cx={x} cy={y} r={5}>
          <title>{`A build with ${count(nodes, 'node')} took ${duration(variants.find(variant => variant.nodes === nodes)!.measured)}`}</title>
        </circle>
      ))}
      <path class="today" d={`M${curve.xs[today]} ${HEIGHT - frame.bottom}v6`} />
      <Handle {...{ variants, chosen, curve, frame, onChoose }} />
    </svg>
  );
}

function Axes({ curve, frame, handle }: { curve: Curve; frame: Frame; handle: number }) {
  const { left, right, width, height, bottom } = frame;
  const step = (curve.wallTicks[1]?.seconds ?? 1) - (curve.wallTicks[0]?.seconds ?? 0);
  return (
    <g class="axes">
      {curve.wallTicks.map(({ y, seconds }) => (
        <g key={seconds}>
          <path d={`M${left} ${Math.round(y) + 0.5}H${width - right}`} />
          <text x={left - 8} y={y + 4} text-anchor="end">
            {offset(seconds, step)}
          </text>
        </g>
      ))}
      {curve.workTicks.map(({ y, seconds }) => (
        <text key={seconds} x={width - right + 8} y={y + 4}>
          {number(seconds / 60, seconds > 0 && seconds < 60 ? 1 : 0)}
        </text>
      ))}
      {curve.nodeTicks
        .filter(({ x }) => Math.abs(x - handle) >= GRIP)
        .map(({ x, nodes }) => (
          <text key={nodes} x={x} y={height - bottom + 20} text-anchor="middle">
            {nodes}
          </text>
        ))}
      <text class="wall-name" x={0} y={14}>
        wall time
      </text>
      <text x={width} y={14} text-anchor="end">
        node-minutes
      </text>
      <text x={width / 2} y={height - 4} text-anchor="middle">
        nodes
      </text>
    </g>
  );
}

function Mark({ x, frame, text, isLast }: { x: number; frame: Frame; text: string; isLast: boolean }) {
  return (
    <g class="useful">
      <path d={`M${Math.round(x) + 0.5} ${frame.top - 16}V${frame.height - frame.bottom}`} />
      <text
        x={isLast ? Math.max(x - 6, MARK_TEXT) : Math.min(x + 6, frame.width - MARK_TEXT)}
        y={frame.top - 8}
        text-anchor={isLast ? 'end' : 'start'}
      >
        {text}
      </text>
    </g>
  );
}

function Handle({ variants, chosen, curve, frame, onChoose }: Omit<Props, 'today' | 'mark' | 'target'> & { curve: Curve; frame: Frame }) {
  const { nodes, wall, job_seconds } = variants[chosen]!;
  const x = curve.xs[chosen]!;
  const text = `${duration(wall)}, ${number(job_seconds / 60)} node-minutes`;
  const labelX = Math.min(frame.width - frame.right - 90, Math.max(frame.left + 90, x));
  return (
    <g
      class="handle"
      role="slider"
      tabindex={0}
      aria-label="Number of nodes"
      aria-valuemin={variants[0]!.nodes}
      aria-valuemax={variants.at(-1)!.nodes}
      aria-valuenow={nodes}
      aria-valuetext={`${count(nodes, 'node')}: ${text}`}
      onKeyDown={event => {
        const next = columnAfter(event.key, chosen, variants.length);
        if (next === null) return;
        event.preventDefault();
        onChoose(next);
      }}
    >
      <path d={`M${Math.round(x) + 0.5} ${frame.top - 32}V${frame.height - frame.bottom + 4}`} />
      <rect class="grip" x={x - GRIP / 2} y={frame.height - frame.bottom + 3} width={GRIP} height={22} rx={4} />
      <text class="grip-text" x={x} y={frame.height - frame.bottom + 19} text-anchor="middle">
        {nodes}
      </text>
      <circle cx={x} cy={curve.ys[chosen]} r={6} />
      <text class="reading" x={labelX} y={frame.top - 36} text-anchor="middle">
        {text}
      </text>
    </g>
  );
}
