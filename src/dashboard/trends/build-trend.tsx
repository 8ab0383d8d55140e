import { useState } from 'preact/hooks';
import type { ProjectLine } from '../../api/messages/dashboard.js';
import type { BuildTrend, DayTrend } from '../../engine/insight/trends/trends-answer.js';
import { useLive } from '../data/live.js';
import { Duration } from '../parts/amounts.js';
import { Loaded } from '../parts/states.js';
import { type Column, Table } from '../parts/table.js';
import { count, duration, percent } from '../text/format.js';
import { DayPlot } from './day-plot.js';

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
  const { day, builds, median_wall, floor, idle_share } = days[index ?? days.length - 1]!;
  return (
    <>
      <DayPlot
        label="Wall time by day"
        days={days}
        line={({ median_wall }) => median_wall}
        dashed={({ floor }) => floor}
        onDay={setIndex}
      />
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
