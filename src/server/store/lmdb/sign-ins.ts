import type { Password, Session, SignIns } from '../../engine/ports/sign-ins.js';
import { byCreation, keyOf } from './access.js';
import type { Tables } from './tables.js';
import { type Committing, commit } from './writes/commit.js';

export function lmdbSignIns(parts: Pick<Tables, 'links' | 'sessions' | 'values'> & Committing) {
  const { links, sessions } = parts;
  /** Reports whether a session may be created. Uses up the link of an operator. */
  const takeOrigin = ({ origin }: Session): boolean => {
    if (passwordIn(parts)?.hash === origin) return true;
    const link = links.get(keyOf(origin));
    if (link?.hash !== origin) return false;
    if (link.project === null) void links.remove(keyOf(origin));
    return true;
  };
  return {
    links: () => Array.from(links.getRange(), ({ value }) => value).sort(byCreation),
    link: hash => links.get(keyOf(hash)) ?? null,
    createLink: link => commit(parts, () => void links.put(keyOf(link.hash), link)),
    deleteLink: hash =>
      commit(parts, () => {
        if (links.get(keyOf(hash))?.hash === hash) void links.remove(keyOf(hash));
        deleteSessions(parts, ({ origin }) => origin === hash);
      }),
    sessions: () => Array.from(sessions.getRange(), ({ value }) => value).sort(byCreation),
    session: hash => sessions.get(keyOf(hash)) ?? null,
    createSession: (session, most) =>
      commit(parts, () => {
        if (!takeOrigin(session)) return false;
        const others = [...sessions.getRange()].map(({ value }) => value).filter(({ project }) => project === session.project);
        others.sort((a, b) => b.used_at - a.used_at);
        for (const { hash } of others.slice(most - 1)) void sessions.remove(keyOf(hash));
        void sessions.put(keyOf(session.hash), session);
        return true;
      }),
    useSession: (hash, at) =>
      commit(parts, () => {
        const record = sessions.get(keyOf(hash));
        if (record?.hash === hash) void sessions.put(keyOf(hash), { ...record, used_at: at });
      }),
    deleteSession: hash => commit(parts, () => void (sessions.get(keyOf(hash))?.hash === hash && sessions.remove(keyOf(hash)))),
    deleteEnded: (at, unusedSince) =>
      commit(parts, () => {
        for (const { key, value } of [...links.getRange()]) if (value.expires_at < at) void links.remove(key);
        deleteSessions(parts, ({ used_at, ends_at }) => used_at < unusedSince || ends_at < at);
      }),
  } satisfies SignIns;
}

/** Ends the sessions that came from the password, within a write transaction. */
export function endSessionsOfPassword(tables: Pick<Tables, 'sessions' | 'values'>): void {
  const password = passwordIn(tables);
  if (password) deleteSessions(tables, ({ origin }) => origin === password.hash);
}

const passwordIn = ({ values }: Pick<Tables, 'values'>) => values.get('password') as Password | undefined;

function deleteSessions({ sessions }: Pick<Tables, 'sessions'>, isEnded: (session: Session) => boolean): void {
  for (const { key, value } of [...sessions.getRange()]) if (isEnded(value)) void sessions.remove(key);
}
