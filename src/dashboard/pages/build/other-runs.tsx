import type { MinutesAnswer } from '../../../protocol/answers/minutes.js';
import type { ProjectLine } from '../../../protocol/messages/dashboard.js';
import { When } from '../../parts/amounts.js';
import { projectPath } from '../../routes/routes.js';
import { visible } from '../../text/path-text.js';

/** The other CI runs of the same commit, branch and number of nodes. */
export function OtherRuns({ project, build: { other_ci_runs } }: { project: ProjectLine; build: MinutesAnswer }) {
  if (other_ci_runs.length === 0) return null;
  return (
    <section class="other-runs">
      <h2>Other CI runs of this build</h2>
      <ul>
        {other_ci_runs.map(({ ci_run_id, ci_run, created_at }) => (
          <li key={ci_run_id}>
            <a href={projectPath(project.name, 'build', ci_run_id)}>
              <bdi>{visible(ci_run) || 'without an id'}</bdi>
            </a>{' '}
            <span class="quiet">
              <When time={created_at} />
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}
