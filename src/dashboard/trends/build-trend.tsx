import { useMemo, useState } from 'preact/hooks';
import type uPlot from 'uplot';
import type { ProjectLine } from '../../api/messages/dashboard.js';
import type { BuildTrend, DayTrend } from '../../engine/insight/trends/trends-answer.js';
import { useLive } from '../data/live.js';
import { Duration } from '../parts/amounts.js';
import { fullBar } from '../parts/bar-scale.js';
import { axisOf, type Colours, Plot } from '../parts/plot.js';
import { Loaded } from '../parts/states.js';
import { type Column, Table } from '../parts/table.js';
import { dateSteps, secondTicks, shownDays } from '../parts/ticks.js';
import { count, duration, offset, percent } from '../text/format.js';

const HEIGHT = 200;

/** Wall time and floor of a project's builds by day, and the same by week as a table. */
export function BuildTrendChart({ project }: { project: Omit<ProjectLine, 'settings'> }) {
  const request = { attempt: `load the trend of ${project.name}`, project: project.id };
  const live = useLive<BuildTrend>('/v1/trends/builds?by=day', request);
  const weekly = useLive<BuildTrend>('/v1/trends/builds?by=week', request);
  return (
    <div class="build-trend">
      <Loaded live={live}>
        {({ days }) =>
          days.length === 0 ? (
            <p class="quiet">No day with builds is known yet.</p>
          ) : (
            <Days days={days} weeks={weekly.data?.days.toReversed() ?? []} />
          )
        }
      </Loaded>
    </div>
  );
}

function Days({ days, weeks }: { days: DayTrend[]; weeks: DayTrend[] }) {
  const [index, setIndex] = useState<number | null>(null);
  const data = useMemo<uPlot.AlignedData>(
    () => [days.map(({ day }) => Date.parse(day) / 1000), days.map(({ median_wall }) => median_wall), days.map(({ floor }) => floor)],
    [days],
  );
  const { day, builds, median_wall, floor, idle_share } = days[index ?? days.length - 1]!;
  return (
    <>
      <Plot label="Wall time by day" height={HEIGHT} data={data} options={optionsOf} onPoint={setIndex} />
      <p class="small quiet plot-reading">
        {day}, {count(builds, 'build')}
        {median_wall === null
          ? ', none of them complete.'
          : `: median ${duration(median_wall)} (line), floor ${duration(floor)} (dashed), ${percent(idle_share)} idle.`}
      </p>
      <Table label="By week" columns={COLUMNS} rows={weeks} keyOf={week => week.day} />
    </>
  );
}

const fullOf = ({ data }: uPlot) => fullBar((data[1] as (number | null)[]).filter(wall => wall !== null));

const optionsOf = (colours: Colours): Omit<uPlot.Options, 'width' | 'height'> => ({
  // The date of the last day.
  padding: [null, 48, null, null],
  scales: {
    x: { time: false, range: ({ data: [days] }) => shownDays(days[0] ?? 0, days.at(-1) ?? 0) },
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

/** Where the line leaves the chart, an arrow says that it goes on. */
function drawCut(plot: uPlot, { work }: Colours) {
  const { ctx, bbox, data } = plot;
  const full = fullOf(plot);
  ctx.fillStyle = work;
  ctx.font = `${13 * devicePixelRatio}px system-ui, sans-serif`;
  ctx.textAlign = 'center';
  ctx.textBaseline = 'top';
  for (const [i, wall] of data[1]!.entries()) if (wall! > full) ctx.fillText('▲', plot.valToPos(data[0][i]!, 'x', true), bbox.top);
}

const COLUMNS: Column<DayTrend>[] = [
  { name: 'week', title: 'Week of', cell: ({ day }) => day },
  { name: 'builds', title: 'Builds', isNumber: true, cell: ({ builds }) => builds },
  {
    name: 'wall',
    title: 'Wall time',
    about: 'The median of the builds that ended without a missing file. The columns after it are about the same builds.',
    isNumber: true,
    cell: ({ median_wall }) => <Duration seconds={median_wall} />,
  },
  { name: 'floor', title: 'Floor', isNumber: true, isExtra: true, cell: ({ floor }) => <Duration seconds={floor} /> },
  { name: 'idle', title: 'Idle', isNumber: true, cell: ({ idle_share }) => percent(idle_share) },
  {
    name: 'saved',
    title: 'Saved',
    about: 'How much longer the best of the other methods (see What-if) would have taken with the same recorded times.',
    isNumber: true,
    isExtra: true,
    cell: ({ wall, saved }) => <Duration seconds={wall === null ? null : saved.best} />,
  },
  { name: 'incomplete', title: 'Incomplete', isNumber: true, isExtra: true, cell: ({ incomplete }) => incomplete || '' },
  { name: 'cancelled', title: 'Cancelled', isNumber: true, isExtra: true, cell: ({ cancelled }) => cancelled || '' },
  { name: 'failures', title: 'With failures', isWide: true, cell: ({ with_failures }) => with_failures || '' },
];
