import type { AccessAnswer } from '../../../protocol/messages/dashboard.js';
import { useLive } from '../../data/live.js';
import { useSession } from '../../data/session.js';
import { FirstLine } from '../../parts/first-line.js';
import { Failure, Loaded } from '../../parts/states.js';
import { count } from '../../text/format.js';
import { Links, Sessions } from './people.js';
import { Projects } from './projects.js';
import { useChange } from './use-change.js';

export function AccessPage() {
  const live = useLive<AccessAnswer>('/dashboard/access', { attempt: 'load who has access' });
  const session = useSession();
  const change = useChange(() => {
    live.reload();
    session.reload();
  });
  return (
    <Loaded live={live}>
      {access => (
        <>
          <FirstLine sentences={sentences(access)} />
          {change.problem && <Failure problem={change.problem} reload={live.reload} />}
          <Projects projects={access.projects} change={change} />
          <Links access={access} change={change} />
          <Sessions access={access} change={change} />
        </>
      )}
    </Loaded>
  );
}

function sentences({ projects, sessions, links }: AccessAnswer): string[] {
  const tokens = projects.flatMap(project => project.tokens).filter(token => token.revoked_at === null).length;
  return [
    `${count(tokens, 'token')} for ${count(projects.length, 'project')}.`,
    `${count(sessions.length, 'session')} and ${count(links.length, 'link')} to these pages.`,
  ];
}
