import type { NodeCount, NodeCountsAnswer } from '../../../protocol/answers/what-if.js';
import { minuteTicks, secondTicks } from '../../parts/charts/ticks.js';
import { useWidth } from '../../parts/charts/width.js';
import { duration, number, offset } from '../../text/format.js';
import { AxisNames } from './axis-names.js';

const HEIGHT = 300;
const TOP = 32;
const BOTTOM = 44;
/** The axis of the wall time ends at this many times the longest measured one. */
const MOST_TIMES = 2;
/** The room of a number at the axis, in pixels. */
const LABEL = 30;

/**
 * The wall times of several builds by number of nodes: the median as a line, the ninetieth percentile as a dashed one, and a ring for each
 * build that was measured; node-minutes as bars. The page has the same as a table.
 */
export function LastBuildsChart({ answer }: { answer: NodeCountsAnswer }) {
  const [box, width] = useWidth<HTMLDivElement>();
  return (
    <div class="what-if-chart last-builds-chart" ref={box}>
      {width > 0 && <Drawing answer={answer} width={width} />}
    </div>
  );
}

function Drawing({ answer: { counts, builds, target, recommended }, width }: { answer: NodeCountsAnswer; width: number }) {
  const margin = width < 600 ? 44 : 64;
  const floor = HEIGHT - BOTTOM;
  const column = (width - 2 * margin) / counts.at(-1)!.nodes;
  const highest = Math.max(...counts.map(({ p90_wall }) => p90_wall));
  const measured = Math.max(...builds.map(({ wall }) => wall), target ?? 0);
  const maxWall = Math.min(highest, MOST_TIMES * measured) * 1.06 || 1;
  const maxWork = Math.max(...counts.map(({ node_seconds }) => node_seconds)) * 1.06 || 1;
  const y = (seconds: number) => Math.round(10 * (floor - (seconds / maxWall) * (floor - TOP))) / 10;
  const workY = (seconds: number) => Math.round(10 * (floor - (seconds / maxWork) * (floor - TOP))) / 10;
  const x = (i: number) => Math.round(10 * (margin + (counts[i]!.nodes - 0.5) * column)) / 10;
  const lineOf = (values: number[]) => values.map((value, i) => `${i === 0 ? 'M' : 'L'}${x(i)} ${y(value)}`).join('');
  const ticks = secondTicks(maxWall, 4);
  const bar = Math.max(1, Math.min(28, column * 0.64));
  // Numbers that would overlap are left out, but for the recommended one.
  const labelled = labelledCounts(counts, recommended, LABEL / column);
  return (
    <svg
      width={width}
      height={HEIGHT}
      viewBox={`0 0 ${width} ${HEIGHT}`}
      role="img"
      aria-label="Wall times of the last builds by number of nodes"
    >
      <clipPath id="last-builds-frame">
        <rect x={0} y={TOP} width={width} height={HEIGHT} />
      </clipPath>
      <g class="axes">
        {ticks.map(seconds => (
          <g key={seconds}>
            <path d={`M${margin} ${Math.round(y(seconds)) + 0.5}H${width - margin}`} />
            <text x={margin - 8} y={y(seconds) + 4} text-anchor="end">
              {offset(seconds, ticks[1] ?? 1)}
            </text>
          </g>
        ))}
        {minuteTicks(maxWork, 4).map(seconds => (
          <text key={seconds} x={width - margin + 8} y={workY(seconds) + 4}>
            {number(seconds / 60)}
          </text>
        ))}
        {counts.map(
          ({ nodes }, i) =>
            labelled.has(nodes) && (
              <text key={nodes} x={x(i)} y={floor + 20} text-anchor="middle">
                {nodes}
              </text>
            ),
        )}
        <AxisNames width={width} height={HEIGHT} />
      </g>
      {counts.map(({ nodes, node_seconds }, i) => (
        <rect
          key={nodes}
          class={nodes === recommended ? 'work chosen' : 'work'}
          x={x(i) - bar / 2}
          y={workY(node_seconds)}
          width={bar}
          height={floor - workY(node_seconds)}
        />
      ))}
      {target !== null && target <= maxWall && (
        <g class="target">
          <path d={`M${margin} ${y(target)}H${width - margin}`} />
          <text x={width - margin - 4} y={y(target) - 6} text-anchor="end">
            target {duration(target)}
          </text>
        </g>
      )}
      <g clip-path="url(#last-builds-frame)">
        <path class="wall high" d={lineOf(counts.map(({ p90_wall }) => p90_wall))} />
        <path class="wall" d={lineOf(counts.map(({ median_wall }) => median_wall))} />
      </g>
      {builds.map(({ build_id, node_total, wall }) => {
        const i = counts.findIndex(({ nodes }) => nodes === node_total);
        return i >= 0 && wall <= maxWall && <circle key={build_id} class="measured" cx={x(i)} cy={y(wall)} r={4} />;
      })}
    </svg>
  );
}

/** The numbers of nodes that are at least so far apart, and from the recommended one. */
function labelledCounts(counts: readonly NodeCount[], recommended: number | null, apart: number): Set<number> {
  const labelled = new Set<number>(recommended === null ? [] : [recommended]);
  for (const { nodes } of counts) if ([...labelled].every(other => Math.abs(other - nodes) >= apart)) labelled.add(nodes);
  return labelled;
}
