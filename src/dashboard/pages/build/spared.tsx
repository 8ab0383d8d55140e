import type { MinutesAnswer } from '../../../protocol/answers/minutes.js';
import type { ProjectLine } from '../../../protocol/messages/dashboard.js';
import { When } from '../../parts/amounts.js';
import { Commit } from '../../parts/commit.js';
import { Branch } from '../../parts/path.js';
import { projectPath } from '../../routes/routes.js';
import { count, nodeTime, number } from '../../text/format.js';
import { visible } from '../../text/path-text.js';

/** The files that the queue of this CI run left out, and the CI runs that had shown that they pass. */
export function LeftOutFiles({ project, build: { proved } }: { project: ProjectLine; build: MinutesAnswer }) {
  if (!proved) return null;
  return (
    <section class="other-runs">
      <h2>{count(proved.test_files, 'test file')} left out</h2>
      <p class="small quiet">They had passed in the same tree, so the queue did not have them.</p>
      <ul>
        {proved.ci_runs.map(({ ci_run_id, ci_run }) => (
          <li key={ci_run_id}>
            Proved by{' '}
            <a href={projectPath(project.name, 'build', ci_run_id)}>
              <bdi>{visible(ci_run)}</bdi>
            </a>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** The CI runs that did not run these tests, because this one had shown that they pass. */
export function SparedRuns({ project, build: { spared } }: { project: ProjectLine; build: MinutesAnswer }) {
  if (spared.count === 0) return null;
  const more = spared.count - spared.newest.length;
  return (
    <section class="other-runs">
      <h2>Proves {count(spared.count, 'other CI run')}</h2>
      <p class="small quiet">
        Tests passed here. Other CI runs of the same tree did not run them again: {nodeTime(spared.node_seconds)} saved.
      </p>
      <ul>
        {spared.newest.map(({ commit_hash, branch, ci_run, asked_at }) => (
          <li key={`${commit_hash} ${branch} ${ci_run}`}>
            <bdi>{visible(ci_run)}</bdi> of <Branch name={branch} />, commit <Commit project={project} hash={commit_hash} />{' '}
            <span class="quiet">
              <When time={asked_at} />
            </span>
          </li>
        ))}
        {more > 0 && <li class="quiet">and {number(more)} more</li>}
      </ul>
    </section>
  );
}
