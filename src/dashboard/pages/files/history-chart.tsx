import { useMemo, useState } from 'preact/hooks';
import type uPlot from 'uplot';
import type { FileHistory, FilePoint } from '../../../protocol/answers/trends.js';
import { axisOf, type Colours, Plot } from '../../parts/charts/plot.js';
import { dateLabels, secondTicks } from '../../parts/charts/ticks.js';
import { duration, exactTime, offset, unbroken } from '../../text/format.js';
import { commitOf } from '../../text/in-sentence.js';
import { RESULTS } from './sentences.js';

const HEIGHT = 300;
/** Width of a date on the axis, in pixels. */
const DATE_WIDTH = 120;

interface Props {
  history: FileHistory;
  onBuild: (build: string) => void;
}

/** The times of a file by build, with the band of its estimates. Changes are upright lines; rings mark builds that waited for it, crosses failures, triangles flaky ones. */
export function HistoryChart({ history, onBuild }: Props) {
  const { points } = history;
  const [index, setIndex] = useState<number | null>(null);
  const data = useMemo(() => columnsOf(points), [points]);
  const decided = useMemo(() => new Set(history.decided.map(({ build_id }) => build_id)), [history]);
  const point = points[index ?? points.length - 1];
  return (
    <>
      <Plot
        label={`Times of ${points.length} builds`}
        height={HEIGHT}
        data={data}
        options={colours => optionsOf(history, decided, colours)}
        onPoint={setIndex}
        onClick={index => onBuild(points[index]!.build_id)}
      />
      <p class="small quiet plot-reading">{point && unbroken(describe(point, decided.has(point.build_id)))}</p>
    </>
  );
}

function describe({ commit_hash, at, node_index, seconds, estimate, low, high, result }: FilePoint, isDecided: boolean): string {
  const expected =
    estimate === null ? 'measured for the first time' : `estimate ${duration(estimate)} (${duration(low)} to ${duration(high)})`;
  return `${commitOf(commit_hash)}, ${exactTime(at)}, node ${node_index}: ${duration(seconds)}${result ? `, ${RESULTS[result]}` : ''}; ${expected}${isDecided ? '; this build waited for it' : ''}.`;
}

const columnsOf = (points: readonly FilePoint[]): uPlot.AlignedData => [
  points.map((_, i) => i),
  points.map(({ high }) => high),
  points.map(({ low }) => low),
  points.map(({ estimate }) => estimate),
  points.map(({ seconds }) => seconds),
];

function optionsOf(history: FileHistory, decided: ReadonlySet<string>, colours: Colours): Omit<uPlot.Options, 'width' | 'height'> {
  const { points } = history;
  const edge = { stroke: 'transparent', points: { show: false } };
  return {
    padding: [null, DATE_WIDTH / 2, null, null],
    scales: { x: { time: false, range: [-0.5, Math.max(0.5, points.length - 0.5)] }, y: { range: (_, __, max) => [0, max * 1.08 || 1] } },
    series: [
      {},
      edge,
      edge,
      { stroke: colours.quiet, width: 1, dash: [4, 4], points: { show: false } },
      { stroke: colours.work, width: 1, points: { show: true, size: 6, fill: colours.work, width: 0 } },
    ],
    bands: [{ series: [1, 2], fill: faint(colours.idle) }],
    axes: [
      axisOf(colours, {
        grid: { show: false },
        splits: ({ width }, _, min, max) =>
          evenly(Math.max(0, Math.ceil(min)), Math.min(points.length - 1, Math.floor(max)), width / DATE_WIDTH),
        values: (_, splits) => dateLabels(splits.flatMap(i => points[i]?.at ?? [])),
      }),
      axisOf(colours, {
        size: 64,
        splits: (_, __, ___, max) => secondTicks(max),
        values: (_, splits) => splits.map(seconds => offset(seconds, splits[1] ?? 1)),
      }),
    ],
    cursor: { y: false, drag: { x: false, y: false }, points: { show: false } },
    hooks: { draw: [plot => drawMarks(plot, history, decided, colours)] },
  };
}

const faint = (colour: string) => colour.replace(/^rgb\((.*)\)$/, 'rgb($1 / 30%)').replaceAll(',', ' ');

/** Up to `most` whole numbers, evenly apart. */
function evenly(first: number, last: number, most: number): number[] {
  const step = Math.max(1, Math.ceil((last - first) / Math.max(1, most - 1)));
  return Array.from({ length: Math.floor((last - first) / step) + 1 }, (_, i) => first + i * step);
}

function drawMarks(plot: uPlot, { points, changes }: FileHistory, decided: ReadonlySet<string>, { over, failed, text }: Colours) {
  const { ctx, bbox } = plot;
  const ratio = devicePixelRatio;
  ctx.save();
  for (const [i, { build_id, seconds, result }] of points.entries()) {
    const [x, y] = [plot.valToPos(i, 'x', true), plot.valToPos(seconds, 'y', true)];
    ctx.beginPath();
    if (decided.has(build_id)) ctx.arc(x, y, 6 * ratio, 0, 2 * Math.PI);
    ctx.lineWidth = ratio;
    ctx.strokeStyle = text;
    ctx.stroke();
    if (result === null || result === 'passed') continue;
    const arm = 5 * ratio;
    const cross = `M${x - arm} ${y - arm} l${2 * arm} ${2 * arm} m0 ${-2 * arm} l${-2 * arm} ${2 * arm}`;
    const triangle = `M${x} ${y - 1.5 * arm} l${1.5 * arm} ${2.5 * arm} h${-3 * arm} Z`;
    ctx.lineWidth = 2.5 * ratio;
    ctx.strokeStyle = failed;
    ctx.stroke(new Path2D(result === 'flaky' ? triangle : cross));
  }
  ctx.strokeStyle = over;
  ctx.fillStyle = text;
  ctx.lineWidth = 2 * ratio;
  ctx.font = `${13 * ratio}px system-ui, sans-serif`;
  for (const { build_id, factor, commit_hash } of changes) {
    const i = points.findIndex(point => point.build_id === build_id);
    if (i < 0) continue;
    const x = plot.valToPos(i - 0.5, 'x', true);
    ctx.beginPath();
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
    const isRight = x > bbox.left + bbox.width / 2;
    ctx.textAlign = isRight ? 'right' : 'left';
    const label = `${factor > 1 ? '▲' : '▼'} ${factor.toFixed(1)}× at ${commitOf(commit_hash)}`;
    ctx.fillText(label, x + (isRight ? -6 : 6) * ratio, bbox.top + 14 * ratio);
  }
  ctx.restore();
}
