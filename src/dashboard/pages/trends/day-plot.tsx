import { useMemo } from 'preact/hooks';
import type uPlot from 'uplot';
import type { DayTrend } from '../../../protocol/answers/trends.js';
import { fullBar } from '../../parts/charts/bar-scale.js';
import { axisOf, type Colours, Plot } from '../../parts/charts/plot.js';
import { dateSteps, secondTicks } from '../../parts/charts/ticks.js';
import { offset } from '../../text/format.js';

const HEIGHT = 200;

export interface DayPlotProps {
  label: string;
  days: readonly DayTrend[];
  /** The dates of the axis. */
  range: { from: string; to: string };
  /** Seconds of a day; null: none of its builds tells. */
  line: (day: DayTrend) => number | null;
  /** A second line, which is dashed. */
  dashed?: (day: DayTrend) => number | null;
  onDay: (index: number | null) => void;
}

/** Durations by day. `line` and `dashed` do not change while the chart is shown. */
export function DayPlot({ label, days, range, line, dashed, onDay }: DayPlotProps) {
  const data = useMemo<uPlot.AlignedData>(
    () => [days.map(({ day }) => secondsOf(day)), days.map(line), days.map(day => dashed?.(day) ?? null)],
    [days],
  );
  const options = (colours: Colours) => optionsOf(colours, range);
  return <Plot label={label} height={HEIGHT} data={data} options={options} onPoint={onDay} />;
}

const secondsOf = (date: string) => Date.parse(date) / 1000;

const fullOf = ({ data }: uPlot) => fullBar((data[1] as (number | null)[]).filter(seconds => seconds !== null));

const optionsOf = (colours: Colours, range: DayPlotProps['range']): Omit<uPlot.Options, 'width' | 'height'> => ({
  // The date of the last day.
  padding: [null, 48, null, null],
  scales: {
    x: {
      time: false,
      range: [secondsOf(range.from), secondsOf(range.to)],
    },
    y: { range: plot => [0, fullOf(plot) * 1.08 || 1] },
  },
  series: [
    {},
    { stroke: colours.work, width: 2, points: { show: true, size: 5, fill: colours.work, width: 0 } },
    { stroke: colours.quiet, width: 1, dash: [4, 4], points: { show: false } },
  ],
  axes: [
    axisOf(colours, {
      grid: { show: false },
      space: 96,
      incrs: dateSteps,
      values: (_, splits) => splits.map(time => new Date(time * 1000).toISOString().slice(0, 10)),
    }),
    axisOf(colours, {
      size: 64,
      splits: (_, __, ___, max) => secondTicks(max, 4),
      values: (_, splits) => splits.map(seconds => offset(seconds, splits[1] ?? 1)),
    }),
  ],
  cursor: { y: false, drag: { x: false, y: false }, points: { show: false } },
  hooks: { draw: [plot => drawCut(plot, colours)] },
});

/** Draws an arrow at the place where the line leaves the chart. */
function drawCut(plot: uPlot, { work }: Colours) {
  const { ctx, bbox, data } = plot;
  const full = fullOf(plot);
  ctx.fillStyle = work;
  ctx.font = `${13 * devicePixelRatio}px system-ui, sans-serif`;
  ctx.textAlign = 'center';
  ctx.textBaseline = 'top';
  for (const [i, wall] of data[1]!.entries()) if (wall! > full) ctx.fillText('▲', plot.valToPos(data[0][i]!, 'x', true), bbox.top);
}
