import { useState } from 'preact/hooks';
import { DAY_MILLISECONDS, dateOf } from '../../../base/time.js';
import type { BuildTrend, DayTrend } from '../../../protocol/answers/trends.js';
import type { ProjectLine } from '../../../protocol/messages/dashboard.js';
import { priceText } from '../../../protocol/price.js';
import { Duration } from '../../parts/amounts.js';
import { minuteTicks, secondTicks } from '../../parts/charts/ticks.js';
import { Figure } from '../../parts/figure.js';
import { FoldedTable } from '../../parts/folded-table.js';
import type { Column } from '../../parts/table.js';
import { projectPath, withQuery } from '../../routes/routes.js';
import { count, duration, number, offset, percent, unbroken } from '../../text/format.js';
import { searchOf } from '../builds/search.js';
import { DayPlot, type DayPlotProps } from './day-plot.js';

interface Props {
  project: ProjectLine;
  trend: BuildTrend;
  total: DayTrend;
  /** Days of a bar. */
  width: number;
}

/** The times and prices of the builds of each day, as charts and as a table. */
export function DayCharts({ project, trend, total, width }: Props) {
  const { days } = trend;
  const chart = { days, width, range: { from: trend.from, to: trend.to } };
  const ofSeconds = { ...chart, ticks: (max: number) => secondTicks(max, 4), tickText: offset };
  const name = width === 1 ? 'Day' : 'Week of';
  const by = width === 1 ? 'by day' : 'by week';
  const columns = [dayColumn(name, day => buildsOf(project, trend, day, width)), ...COLUMNS];
  return (
    <>
      <dl class="figures trend-figures">
        <Figure title="Builds">{number(total.builds)}</Figure>
        <Figure title="Incomplete">{number(total.incomplete)}</Figure>
        <Figure title="With failures">{failuresOf(total) ?? 'not reported'}</Figure>
        <Figure title="Median wall time">{duration(total.median_wall)}</Figure>
        <Figure title="Median of all tests">{duration(total.median_test_seconds)}</Figure>
        <Figure title="Node-minutes">{minutes(total)}</Figure>
        {total.price && <Figure title="Cost">{priceText(total.price)}</Figure>}
      </dl>
      <section>
        <h2>Wall time {by}</h2>
        <DayChart
          label={`Wall time ${by}`}
          {...ofSeconds}
          value={({ median_wall }) => median_wall}
          reading={({ median_wall }) => (median_wall === null ? NONE : `median ${duration(median_wall)}`)}
        />
      </section>
      <section>
        <h2>All tests of a build {by}</h2>
        <DayChart
          label={`All tests of a build ${by}`}
          {...ofSeconds}
          value={({ median_test_seconds }) => median_test_seconds}
          reading={({ median_test_seconds: median }) => (median === null ? NONE : `median ${duration(median)}, the nodes together`)}
        />
      </section>
      <section>
        <h2>
          Node-minutes {total.price && 'and cost '}
          {by}
        </h2>
        <DayChart
          label={`Node-minutes ${by}`}
          {...chart}
          value={({ job_seconds }) => job_seconds}
          areBars
          ticks={max => minuteTicks(max, 4)}
          tickText={seconds => number(seconds / 60)}
          reading={day =>
            `${count(Math.round(day.job_seconds / 60), 'node-minute')} of ${count(day.jobs, 'job')}${day.price ? `, ${priceText(day.price)}` : ''}`
          }
        />
        <p class="small quiet">
          The time of all jobs with their set-up, including those of incomplete builds and of earlier CI runs.{' '}
          {total.price ? (
            'The cost counts whole billing steps.'
          ) : (
            <>
              With <a href={projectPath(project.name, 'settings')}>a price</a>, this page says what it costs.
            </>
          )}
        </p>
      </section>
      <FoldedTable label={`Builds ${by}`} columns={columns} rows={days.toReversed()} keyOf={({ day }) => day} />
    </>
  );
}

const NONE = 'none of them complete';

interface ChartProps extends Omit<DayPlotProps, 'onDay'> {
  reading: (day: DayTrend) => string;
}

/** A chart with the values of the day under the pointer, or else of the last one. */
function DayChart({ reading, ...chart }: ChartProps) {
  const [index, setIndex] = useState<number | null>(null);
  const day = chart.days[index ?? chart.days.length - 1] ?? chart.days.at(-1)!;
  return (
    <>
      <DayPlot {...chart} onDay={setIndex} />
      <p class="small quiet plot-reading">
        {day.day}, {count(day.builds, 'build')}: {unbroken(reading(day))}.
      </p>
    </>
  );
}

/** The address of the builds of a bar. */
function buildsOf(project: ProjectLine, { branch }: BuildTrend, from: string, days: number): string {
  const query = { from, to: dateOf(Date.parse(from) / DAY_MILLISECONDS + days - 1), ...(branch !== null && { branch }) };
  return withQuery(projectPath(project.name, 'builds'), { q: searchOf(query) });
}

const minutes = ({ job_seconds }: DayTrend) => number(job_seconds / 60);

/** Builds with failures; null: their clients report none. */
const failuresOf = ({ with_failures, passed }: DayTrend) => (with_failures + passed === 0 ? null : number(with_failures));

const dayColumn = (title: string, hrefOf: (day: string) => string): Column<DayTrend> => ({
  name: 'day',
  title,
  cell: ({ day }) => <a href={hrefOf(day)}>{day}</a>,
});
const COLUMNS: Column<DayTrend>[] = [
  { name: 'builds', title: 'Builds', isNumber: true, cell: ({ builds }) => builds },
  { name: 'incomplete', title: 'Incomplete', isNumber: true, isExtra: true, cell: ({ incomplete }) => incomplete },
  { name: 'cancelled', title: 'Cancelled', isNumber: true, isExtra: true, cell: ({ cancelled }) => cancelled },
  { name: 'failures', title: 'With failures', isNumber: true, isExtra: true, cell: day => failuresOf(day) ?? '–' },
  { name: 'median', title: 'Median', isNumber: true, cell: ({ median_wall }) => <Duration seconds={median_wall} /> },
  { name: 'idle', title: 'Idle', isNumber: true, isExtra: true, cell: ({ idle_share }) => percent(idle_share) },
  { name: 'tests', title: 'Tests', isNumber: true, cell: ({ median_test_seconds }) => <Duration seconds={median_test_seconds} /> },
  { name: 'jobs', title: 'Jobs', isNumber: true, isExtra: true, cell: ({ jobs }) => number(jobs) },
  { name: 'minutes', title: 'Node-minutes', isNumber: true, cell: minutes },
  { name: 'cost', title: 'Cost', isNumber: true, cell: ({ price }) => price && priceText(price) },
];
