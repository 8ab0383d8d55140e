import { useState } from 'preact/hooks';
import { pluralize } from '../../../base/plural.js';
import type { AccessAnswer, CreatedLink } from '../../../protocol/messages/dashboard.js';
import { When } from '../../parts/amounts.js';
import { ConfirmButton } from '../../parts/confirm.js';
import { Secret } from '../../parts/copy.js';
import { inSentence } from '../../text/in-sentence.js';
import type { Change } from './use-change.js';

const DAYS = [1, 7, 30, 90];

interface Props {
  access: AccessAnswer;
  change: Change;
}

const nameOf = ({ projects }: AccessAnswer, id: number | null) =>
  inSentence(projects.find(project => project.id === id)?.name ?? `project ${id}`);

/** Read-only links: make and revoke. */
export function Links({ access, change }: Props) {
  const { projects, links } = access;
  const [chosen, setChosen] = useState<number | null>();
  // The first project may be made while this page is shown.
  const project = chosen === undefined ? (projects[0]?.id ?? null) : chosen;
  const [days, setDays] = useState(30);
  const [created, setCreated] = useState<CreatedLink | null>(null);
  const create = async () => {
    const message = project === null ? {} : { project, days };
    const answer = await change.send<CreatedLink>('/dashboard/links', message, 'make a link');
    if (answer) setCreated(answer);
  };
  return (
    <section>
      <h2>Links</h2>
      <p class="quiet">
        Anyone with the link to a project sees its pages until the link expires, and cannot change anything. Revoke it to end the sessions
        of its readers.
      </p>
      {created && <Secret title="The link." text={created.url} />}
      <ul class="lines" tabIndex={-1} aria-label="Links in force">
        {links.map(({ id, project, created_at, expires_at }) => (
          <li key={id}>
            <span>
              {project === null ? 'Signs an operator in, once' : `Shows ${nameOf(access, project)}`}, made <When time={created_at} />, until{' '}
              <Until time={expires_at} />
            </span>
            <ConfirmButton
              name="Revoke"
              consequence={project === null ? 'It no longer signs anybody in.' : 'Its readers are signed out.'}
              onConfirm={() => void change.send('/dashboard/links/revoke', { id }, 'revoke a link')}
            />
          </li>
        ))}
        {links.length === 0 && <li class="quiet">There is none.</li>}
      </ul>
      <form
        class="choices"
        onSubmit={event => {
          event.preventDefault();
          void create();
        }}
      >
        <label>
          New link to
          <select
            value={project ?? ''}
            onChange={event => setChosen(event.currentTarget.value === '' ? null : Number(event.currentTarget.value))}
          >
            {projects.map(({ id, name }) => (
              <option key={id} value={id}>
                {name}
              </option>
            ))}
            <option value="">everything, once within 10 minutes</option>
          </select>
        </label>
        <label hidden={project === null}>
          for
          <select value={days} onChange={event => setDays(Number(event.currentTarget.value))}>
            {DAYS.map(days => (
              <option key={days} value={days}>
                {pluralize(days, 'day')}
              </option>
            ))}
          </select>
        </label>
        <button type="submit" disabled={change.isSending}>
          Make
        </button>
      </form>
    </section>
  );
}

/** The people who are signed in, with buttons to end their sessions. */
export function Sessions({ access, change }: Props) {
  return (
    <section>
      <h2>Sessions</h2>
      <ul class="lines" tabIndex={-1} aria-label="Sessions in force">
        {access.sessions.map(({ id, role, project, used_at, expires_at, is_own }) => (
          <li key={id}>
            <span>
              {role === 'operator' ? 'Operator' : `Reader of ${nameOf(access, project)}`}
              {is_own && <strong> (this one)</strong>}, last used <When time={used_at} />, until <Until time={expires_at} />
            </span>
            <ConfirmButton
              name="End"
              consequence={is_own ? 'You are signed out.' : 'The person who uses it is signed out.'}
              onConfirm={() => void change.send('/dashboard/sessions/end', { id }, 'end a session')}
            />
          </li>
        ))}
      </ul>
    </section>
  );
}

/** A time to come, to the minute. */
function Until({ time }: { time: string }) {
  const date = new Date(time);
  const text = `${date.toLocaleDateString('sv')} ${date.toLocaleTimeString('sv').slice(0, 5)}`;
  return (
    <time class="number" dateTime={time}>
      {text}
    </time>
  );
}
