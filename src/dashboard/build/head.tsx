import type { ProjectLine } from '../../api/messages/dashboard.js';
import type { MinutesAnswer } from '../../api/messages/insight/minutes.js';
import { clock, count, duration, exactDuration, exactTime, when } from '../format.js';
import { Path } from '../parts/path.js';
import { Status } from '../parts/status.js';
import { visible } from '../path-text.js';
import { useAddress } from '../router.js';
import { projectPath, withQuery } from '../routes.js';
import { searchWord } from '../search.js';
import { linkTo } from './link.js';
import { cutSentence } from './sentence.js';
import { Share } from './share.js';
import { Trace } from './trace.js';

/** What the build was, how long it took, and why, before any evidence. */
export function BuildHead({ project, build, id }: { project: ProjectLine; build: MinutesAnswer; id: string }) {
  const { branch, commit_hash, node_total, started_at, wall, floor, lost, is_running, missing_count, failed } = build;
  const state = is_running ? 'running' : missing_count > 0 ? 'missing' : failed.length > 0 ? 'failed' : 'complete';
  const builds = projectPath(project.name, 'builds');
  return (
    <header class="build-head">
      <div class="build-line">
        <p>
          <a class="branch" href={withQuery(builds, { q: searchWord('branch', branch) })}>
            <Path text={branch} />
          </a>
          <Dot />
          <a href={withQuery(builds, { q: searchWord('commit', commit_hash) })} title={commit_hash}>
            <bdi class="hash">{visible(commit_hash).slice(0, 8)}</bdi>
          </a>
          <Dot />
          {count(node_total, 'node')}
          <Dot />
          <time dateTime={started_at} title={exactTime(started_at)}>
            {isToday(started_at) ? clock(started_at) : when(started_at, Date.now())}
          </time>
        </p>
        <p>
          <Status state={state} failed={failed.length} missing={missing_count} />
          <Trace project={project} id={id} commit={commit_hash} />
          <Share />
        </p>
      </div>
      <h1>
        <span class="headline number" title={exactDuration(wall)}>
          {duration(wall)}
        </span>{' '}
        {is_running ? 'so far; ' : ''}
        <span class="number" title={exactDuration(floor)}>
          {duration(floor)}
        </span>{' '}
        {is_running ? 'is possible' : 'was possible'}
        {lost >= 0.0005 && !is_running && (
          <>
            ,{' '}
            <strong class="number" title={exactDuration(lost)}>
              {duration(lost)}
            </strong>{' '}
            was lost
          </>
        )}
      </h1>
      <Verdict build={build} />
    </header>
  );
}

function Verdict({ build: { verdict, slowest, failed } }: { build: MinutesAnswer }) {
  const { path, query } = useAddress();
  const pieces = cutSentence(verdict, [...slowest.map(({ path }) => path), ...failed]);
  return (
    <p class="verdict">
      {pieces.map((piece, i) => {
        if ('path' in piece)
          return (
            <a key={i} href={linkTo(path, query, { file: piece.path })}>
              <bdi>{visible(piece.text)}</bdi>
            </a>
          );
        if ('node' in piece)
          return (
            <a key={i} href={linkTo(path, query, { q: `node:${piece.node}`, tab: null })}>
              {piece.text}
            </a>
          );
        return visible(piece.text);
      })}
    </p>
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
