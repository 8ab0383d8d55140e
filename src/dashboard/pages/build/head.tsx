import type { MinutePartAnswer, MinutesAnswer } from '../../../protocol/answers/minutes.js';
import type { ForecastAnswer } from '../../../protocol/answers/timeline.js';
import { type BuildState, missesFiles } from '../../../protocol/build-state.js';
import type { ProjectLine } from '../../../protocol/messages/dashboard.js';
import { useLive } from '../../data/live.js';
import { Duration } from '../../parts/amounts.js';
import { Commit } from '../../parts/commit.js';
import { OuterLink } from '../../parts/outer-link.js';
import { Branch } from '../../parts/path.js';
import { Status } from '../../parts/status.js';
import type { BuildViewProps } from '../../routes/pages.js';
import { useAddress } from '../../routes/router.js';
import { projectPath, withQuery } from '../../routes/routes.js';
import { clock, count, duration, exactDuration, exactTime, number, unbroken, when } from '../../text/format.js';
import { commitOf } from '../../text/in-sentence.js';
import { searchWord } from '../../text/search.js';
import { linkTo } from './link.js';
import { LinkedSentence } from './linked-sentence.js';
import { largestPart } from './minute-parts.js';
import { progressText } from './progress.js';
import { Share } from './share.js';
import { Trace } from './trace.js';

/** Less than this many seconds is nothing. */
const SMALLEST = 0.0005;

/** The build, its wall time and the reason for it, before any evidence. */
export function BuildHead({ project, build, id }: BuildViewProps) {
  const { branch, commit_hash, commit_url, node_count, node_total, started_at, wall, is_running } = build;
  const builds = projectPath(project.name, 'builds');
  return (
    <header class="build-head">
      <div class="build-line">
        <p>
          <a class="branch" href={withQuery(builds, { q: searchWord('branch', branch) })}>
            <Branch name={branch} />
          </a>
          <Dot />
          <Commit
            project={project}
            hash={commit_hash}
            url={commit_url}
            search={withQuery(builds, { q: searchWord('commit', commit_hash) })}
          />
          <Diff build={build} />
          <Dot />
          {node_count < node_total ? `${number(node_count)} of at most ${count(node_total, 'node')}` : count(node_total, 'node')}
          <Dot />
          <time dateTime={started_at} title={exactTime(started_at)}>
            {isToday(started_at) ? clock(started_at) : when(started_at, Date.now())}
          </time>
        </p>
        <p>
          <StatusLink build={build} />
          <Trace project={project} id={id} commit={commit_hash} />
          <Share />
        </p>
      </div>
      <h1>
        <span class="headline number" title={exactDuration(wall)}>
          {duration(wall)}
        </span>{' '}
        {is_running ? <Expected project={project} id={id} files={build.files} /> : <Floor build={build} />}
      </h1>
      <p class="verdict">
        {build.is_running && `${unbroken(progressText(build))} `}
        <LinkedSentence text={build.verdict} paths={build.verdict_paths} hasNodeTimes />
        {!build.is_running && ` ${progressText(build)}`}
      </p>
    </header>
  );
}

/** The state, and of a build that runs the first failures. Where files are missing or failed, it leads to them. */
function StatusLink({ build: { state, failed_count, missing_count } }: { build: MinutesAnswer }) {
  const { path, query } = useAddress();
  const link = (state: BuildState) => (
    <a href={linkTo(path, query, { tab: 'completeness' })}>
      <Status state={state} failed={failed_count} missing={missing_count} />
    </a>
  );
  if (state === 'failed' || missesFiles(state)) return link(state);
  return (
    <>
      <Status state={state} />
      {state === 'running' && failed_count !== null && failed_count > 0 && link('failed')}
    </>
  );
}

/** The way to what changed since the build before, if that is known. */
function Diff({ build: { diff_url, previous } }: { build: MinutesAnswer }) {
  if (diff_url === null || !previous) return null;
  return (
    <>
      {' '}
      <OuterLink href={diff_url} title={`What changed since ${commitOf(previous.commit_hash)}, the commit of the build before`}>
        diff
      </OuterLink>
    </>
  );
}

function Floor({ build: { floor, lost, parts, files, missing_count, state, nodes } }: { build: MinutesAnswer }) {
  // Nobody knows what was possible with the files that are missing.
  if (missesFiles(state)) return <>{`for ${number(files - missing_count)} of ${count(files, 'file')}`}</>;
  if (state === 'partial') return <>{`on ${number(nodes.filter(node => node.recorded).length)} of ${count(nodes.length, 'node')}`}</>;
  return (
    <>
      <PartLink part={largestPart(parts, true)} seconds={floor} /> was possible
      {lost >= SMALLEST && (
        <>
          ,{' '}
          <strong>
            <PartLink part={largestPart(parts, false)} seconds={lost} />
          </strong>{' '}
          was lost
        </>
      )}
    </>
  );
}

/** A duration that leads to the definition and the nodes of the part that most of it is. */
function PartLink({ part, seconds }: { part: MinutePartAnswer; seconds: number }) {
  const { path, query } = useAddress();
  return (
    <a href={linkTo(path, query, { part: part.name })}>
      <Duration seconds={seconds} />
    </a>
  );
}

/** Seconds after which the forecast is loaded again. */
const REFRESH = 5;

/** When a queue should end, or else how long the files of a split take a node at most, unless most of them were never measured. */
function Expected({ project, id, files }: { project: ProjectLine; id: string; files: number }) {
  const request = { attempt: 'load the forecast', project: project.id };
  const { data } = useLive<ForecastAnswer>(`/v1/builds/${encodeURIComponent(id)}/forecast`, request, () => REFRESH);
  if (!data) return <>so far</>;
  const { kind, expected_end, makespan, unknown_files } = data;
  const isKnown = kind === 'split' && unknown_files <= files / 2;
  if (!expected_end) return <>{isKnown ? `so far, each node has ${unbroken(duration(makespan))} of files at most` : 'so far'}</>;
  const { at, earliest, latest } = expected_end;
  return (
    <>
      so far, should end at{' '}
      <time dateTime={at} title={`In nine of ten builds between ${exactTime(earliest)} and ${exactTime(latest)}.`}>
        {clock(at)}
      </time>
    </>
  );
}

function Dot() {
  return (
    <span class="quiet" aria-hidden="true">
      {' · '}
    </span>
  );
}

function isToday(time: string): boolean {
  return new Date(time).toDateString() === new Date().toDateString();
}
