import type { FlakyAnswer } from '../../../protocol/answers/flaky.js';
import type { BuildTrend, FileTrends } from '../../../protocol/answers/trends.js';
import type { ProjectLine } from '../../../protocol/messages/dashboard.js';
import { useLive } from '../../data/live.js';
import { BranchChoice } from '../../parts/branch-choice.js';
import { FirstLine } from '../../parts/first-line.js';
import { Loaded } from '../../parts/states.js';
import type { ProjectPageProps } from '../../routes/pages.js';
import { setQuery, useAddress } from '../../routes/router.js';
import { withQuery } from '../../routes/routes.js';
import { costSentences } from '../../text/cost.js';
import { DayCharts } from './day-charts.js';
import { flakeSentences } from './flakes.js';
import { GrownFiles, grownSince } from './grown-files.js';
import { growthSentences, spansOf } from './growth.js';
import { provedSentences } from './proved.js';

const RANGES = [
  { days: 30, title: '30 days' },
  { days: 90, title: '90 days' },
  { days: 365, title: 'a year' },
];
const DEFAULT_DAYS = 30;
/** Interval at which the days are loaded again, in seconds. */
const REFRESH = 60;
/** Files among which are those that grew within the range. */
const FILES = 200;

interface Choices {
  /** As in the address; empty: the default branch. */
  branch: string;
  isAll: boolean;
  days: number;
  by: 'day' | 'week';
}

function choicesOf(query: URLSearchParams): Choices {
  const days = RANGES.find(range => String(range.days) === query.get('days'))?.days ?? DEFAULT_DAYS;
  const by = query.get('by') ?? (days > 90 ? 'week' : 'day');
  return { branch: query.get('branch') ?? '', isAll: query.has('all'), days, by: by === 'week' ? 'week' : 'day' };
}

export function TrendsPage({ project }: ProjectPageProps) {
  const choices = choicesOf(useAddress().query);
  const { isAll, days, by } = choices;
  const branch = isAll ? null : choices.branch || project.default_branch;
  const request = { attempt: 'load the trends', project: project.id };
  const path = withQuery('/v1/trends/builds', { branch });
  const daily = useLive<BuildTrend>(withQuery(path, { days }), request, () => REFRESH);
  const shown = useLive<BuildTrend>(by === 'day' ? null : withQuery(path, { days, by }), request, () => REFRESH);
  const spans = daily.data && spansOf(daily.data);
  const total = useLive<BuildTrend>(withQuery(path, { days, by: 'range' }), request, () => REFRESH);
  const hasPrice = project.settings.price !== null;
  const ofAll = hasPrice && branch !== null ? withQuery('/v1/trends/builds', { days, by: 'range' }) : null;
  const others = useLive<BuildTrend>(ofAll, request, () => REFRESH);
  const spent = branch === null ? total : others;
  const first = useLive<BuildTrend>(spans && withQuery(path, { ...spans.first, by: 'range' }), request);
  const last = useLive<BuildTrend>(spans && withQuery(path, { ...spans.last, by: 'range' }), request, () => REFRESH);
  const flaky = useLive<FlakyAnswer>(
    withQuery('/v1/flaky', { days, limit: 1 }),
    { attempt: 'load what flaky files cost', project: project.id },
    () => REFRESH,
  );
  const files = useLive<FileTrends>(
    withQuery('/v1/trends/files', { branch: isAll ? null : choices.branch, sort: 'growth', limit: FILES }),
    {
      attempt: 'find the files that grew',
      project: project.id,
    },
  );
  return (
    <Loaded live={daily}>
      {({ from, proved_runs, proved_seconds }) => {
        const trend = by === 'day' ? daily.data : shown.data;
        const grown = grownSince(files.data, from);
        const paths = files.data?.files.map(({ path }) => path);
        const isKnown =
          total.data && files.data && flaky.data && (spent.data || !hasPrice) && (spans === null || (first.data && last.data));
        const [only, begin, end] = [total, first, last].map(({ data }) => data?.days[0] ?? null);
        return (
          <>
            <FirstLine
              sentences={
                isKnown
                  ? [
                      ...growthSentences({ spans, first: begin!, last: end!, total: only!, grown: isAll ? null : grown[0], paths }),
                      ...provedSentences({ proved_runs, proved_seconds }, days),
                      ...(flaky.data ? flakeSentences(flaky.data.recent) : []),
                      ...costSentences(spent.data?.days ?? [], ', on all branches'),
                    ]
                  : ['…']
              }
            >
              {spans && (
                <p class="small quiet">
                  This compares the builds of the first and of the last {spans.days === 1 ? 'day' : `${spans.days} days`} with builds, if
                  they ended without a missing file. Days are in UTC.
                </p>
              )}
            </FirstLine>
            <Choice project={project} choices={choices} />
            {only === null || trend === null ? (
              total.data && <p class="quiet">A build counts when it has ended, on the day on which it began.</p>
            ) : (
              <DayCharts project={project} trend={trend} total={only!} width={by === 'day' ? 1 : 7} />
            )}
            {files.data && files.data.builds > 0 && (
              <GrownFiles project={project} files={files.data} grown={grown} branch={choices.branch || null} from={from} />
            )}
          </>
        );
      }}
    </Loaded>
  );
}

function Choice({ project, choices: { branch, isAll, days, by } }: { project: ProjectLine; choices: Choices }) {
  return (
    <div class="choices">
      {!isAll && <BranchChoice branch={branch} placeholder={project.default_branch ?? ''} />}
      <label>
        <input type="checkbox" checked={isAll} onChange={event => setQuery({ all: event.currentTarget.checked ? '1' : null })} />
        All branches
      </label>
      <label>
        Range
        <select value={days} onChange={event => setQuery({ days: event.currentTarget.value, by: null })}>
          {RANGES.map(({ days, title }) => (
            <option key={days} value={days}>
              {title}
            </option>
          ))}
        </select>
      </label>
      <label>
        By
        <select value={by} onChange={event => setQuery({ by: event.currentTarget.value })}>
          <option value="day">day</option>
          <option value="week">week</option>
        </select>
      </label>
    </div>
  );
}
