import { useMemo } from 'preact/hooks';
import uPlot from 'uplot';
import { DAY_MILLISECONDS } from '../../../base/time.js';
import type { DayTrend } from '../../../protocol/answers/trends.js';
import { fullBar } from '../../parts/charts/bar-scale.js';
import { axisOf, type Colours, Plot } from '../../parts/charts/plot.js';
import { dateSteps } from '../../parts/charts/ticks.js';

const HEIGHT = 200;

export interface DayPlotProps {
  label: string;
  days: readonly DayTrend[];
  /** Its first and its last date, which all charts of a page share. */
  range: { from: string; to: string };
  /** Days of a value, which is drawn in their middle. */
  width: number;
  /** Seconds of a day; null: none of its builds tells. */
  value: (day: DayTrend) => number | null;
  areBars?: boolean;
  /** Round values up to the largest one, and their texts. */
  ticks: (max: number) => number[];
  tickText: (seconds: number, step: number) => string;
  onDay: (index: number | null) => void;
}

/** Durations by day. Only the days change while the chart is shown. */
export function DayPlot(props: DayPlotProps) {
  const { label, days, width, value, onDay } = props;
  const data = useMemo<uPlot.AlignedData>(() => [days.map(({ day }) => secondsOf(day) + width * (DAY / 2)), days.map(value)], [days]);
  return <Plot label={label} height={HEIGHT} data={data} options={colours => optionsOf(colours, props)} onPoint={onDay} />;
}

const DAY = DAY_MILLISECONDS / 1000;
const secondsOf = (date: string) => Date.parse(date) / 1000;

const fullOf = ({ data }: uPlot) => fullBar((data[1] as (number | null)[]).filter(seconds => seconds !== null));

const optionsOf = (
  colours: Colours,
  { days, range, width, areBars, ticks, tickText }: DayPlotProps,
): Omit<uPlot.Options, 'width' | 'height'> => ({
  // The date of the last day.
  padding: [null, 48, null, null],
  scales: {
    x: {
      time: false,
      range: [secondsOf(range.from), Math.max(secondsOf(range.to) + DAY, secondsOf(days.at(-1)!.day) + width * DAY)],
    },
    y: { range: plot => [0, fullOf(plot) * 1.08 || 1] },
  },
  series: [
    {},
    areBars
      ? { fill: colours.work, width: 0, points: { show: false }, paths: uPlot.paths.bars!({ size: [0.8, 64] }) }
      : { stroke: colours.work, width: 2, points: { show: true, size: 5, fill: colours.work, width: 0 } },
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
      splits: (_, __, ___, max) => ticks(max),
      values: (_, splits) => splits.map(seconds => tickText(seconds, splits[1] ?? 1)),
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
