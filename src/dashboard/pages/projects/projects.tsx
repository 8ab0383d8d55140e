import type { ProjectOverview, ProjectsAnswer } from '../../../protocol/answers/trends.js';
import { useLive } from '../../data/live.js';
import { useSession } from '../../data/session.js';
import { Duration } from '../../parts/amounts.js';
import { BuildBars } from '../../parts/charts/build-bars.js';
import { Figure } from '../../parts/figure.js';
import { FirstLine } from '../../parts/first-line.js';
import { Path } from '../../parts/path.js';
import { Empty, Loaded } from '../../parts/states.js';
import { projectPath, withQuery } from '../../routes/routes.js';
import { count, duration, percent, unbroken } from '../../text/format.js';
import { projectCosts, projectsSentence } from './sentences.js';

/** Interval at which the overview is loaded again, in seconds. */
const REFRESH = 15;

export function ProjectsPage() {
  const live = useLive<ProjectsAnswer>('/dashboard/projects', { attempt: 'load the projects' }, () => REFRESH);
  const { role } = useSession();
  return (
    <Loaded live={live}>
      {({ projects }) =>
        projects.length === 0 ? (
          <NoProjects isOperator={role === 'operator'} />
        ) : (
          <>
            <FirstLine sentences={[projectsSentence(projects.filter(isOwn)), ...projectCosts(projects.filter(isOwn))]} />
            <ul class="projects">
              {projects.map(project => (
                <Project key={project.id} project={project} />
              ))}
            </ul>
            {role === 'operator' && (
              <p class="quiet">
                One project for each test suite: <a href="/access">create another</a>.
              </p>
            )}
          </>
        )
      }
    </Loaded>
  );
}

/** Not a public side: what strangers write does not count. */
const isOwn = ({ is_public }: ProjectOverview) => !is_public;

function NoProjects({ isOperator }: { isOperator: boolean }) {
  return (
    <Empty title="There is no project.">
      <p>A project has the builds and the timings of one test suite. Its token lets CI jobs send them.</p>
      {isOperator ? (
        <a class="button" href="/access">
          Create a project
        </a>
      ) : (
        <p>The link that you used shows a project that no longer exists. Ask the operator for another link.</p>
      )}
    </Empty>
  );
}

function Project({ project }: { project: ProjectOverview }) {
  const { name, recent, running, measured_day } = project;
  const isNew = recent.length === 0 && running === 0;
  return (
    <li>
      <h2>
        <a href={projectPath(name, isNew && !project.is_public ? 'set-up' : 'builds')}>
          <Path text={name} />
        </a>
        {project.is_public ? <span class="small quiet">public tokens</span> : <Health project={project} isNew={isNew} />}
      </h2>
      {isNew && !project.is_public ? (
        <p>
          <a class="button" href={projectPath(name, 'set-up')}>
            Set up the first build
          </a>
        </p>
      ) : (
        <>
          <Figures project={project} />
          <BuildBars project={name} builds={recent} />
          {measured_day !== null && !project.is_public && (
            <p class="small">
              <a href={withQuery(projectPath(name, 'trends'), { all: 1 })}>Day by day</a>
            </p>
          )}
        </>
      )}
    </li>
  );
}

/** In one word with a sign, so that the colour is not needed. */
function Health({ project, isNew }: { project: ProjectOverview; isNew: boolean }) {
  const { builds_today, incomplete_today, cancelled_today, unplanned_today, with_failures_today, passed_today, running } = project;
  if (isNew) return <span class="small quiet">no build yet</span>;
  if (incomplete_today > 0) return <span class="small failed-text">▲ {incomplete_today} incomplete today</span>;
  if (with_failures_today > 0) return <span class="small failed-text">✕ {with_failures_today} with failures today</span>;
  if (unplanned_today > 0)
    return (
      <span class="small quiet" title="No queue and no split of these is known, so nobody knows whether files are missing.">
        ? {unplanned_today === builds_today ? 'not known' : `${unplanned_today} not known`} today
      </span>
    );
  if (cancelled_today > 0) return <span class="small quiet">⊘ {cancelled_today} cancelled today</span>;
  if (passed_today < builds_today)
    return (
      <span class="small quiet" title="Every file of the plans was recorded. The clients do not say whether files failed.">
        ○ all recorded today
      </span>
    );
  if (builds_today > 0) return <span class="small complete-text">✓ all complete today</span>;
  return <span class="small quiet">{running > 0 ? 'running' : 'no build today'}</span>;
}

const Day = ({ day }: { day: string }) => (
  <span class="quiet">
    on <time dateTime={day}>{day}</time>
  </span>
);

function Figures({ project }: { project: ProjectOverview }) {
  const { builds_today, incomplete_today, cancelled_today, running, median_wall, idle_share, measured_day } = project;
  const { saved_30_days, builds_30_days } = project;
  const day = builds_today > incomplete_today + cancelled_today ? null : measured_day;
  const about = 'Of the builds that ended without a missing file on that day.';
  return (
    <dl class="figures">
      <Figure
        title="Today (UTC)"
        about="Builds that have ended. A build counts on the day on which it began, and a day begins at 00:00 UTC."
      >
        {count(builds_today, 'build')}
        {running > 0 && <span class="quiet">, {running} running</span>}
      </Figure>
      <Figure title="Median" about={about}>
        <Duration seconds={median_wall} /> {day && <Day day={day} />}
      </Figure>
      <Figure title="Idle" about={about}>
        {percent(idle_share)} {day && <Day day={day} />}
      </Figure>
      <Figure
        title="Saved in 30 days"
        about="How much longer the best of other methods (round-robin, by name, one file at a time) would have taken with the same recorded times. Builds that are running, or that ended with missing files, do not count."
      >
        {builds_30_days === 0 ? '–' : unbroken(duration(saved_30_days))}{' '}
        <span class="quiet">in {count(builds_30_days, 'complete build')}</span>
      </Figure>
    </dl>
  );
}
