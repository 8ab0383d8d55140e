import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Session, SignIns } from '../../engine/ports/sign-ins.js';
import type { Tables } from './tables.js';

export function memorySignIns(tables: Tables): SignIns {
  const { links, sessions } = tables;
  const deleteSessions = (isEnded: (session: Session) => boolean) => {
    for (const session of sessions.values()) if (isEnded(session)) sessions.delete(session.hash);
  };
  return {
    links: () => [...links.values()].sort((a, b) => a.created_at - b.created_at),
    link: hash => links.get(hash) ?? null,
    async createLink(link) {
      links.set(link.hash, link);
      await nextTurn();
    },
    async deleteLink(hash) {
      links.delete(hash);
      deleteSessions(({ origin }) => origin === hash);
      await nextTurn();
    },
    sessions: () => [...sessions.values()].sort((a, b) => a.created_at - b.created_at),
    session: hash => sessions.get(hash) ?? null,
    async createSession(session, most) {
      const link = links.get(session.origin);
      if (!link && tables.password?.hash !== session.origin) return false;
      if (link?.project === null) links.delete(link.hash);
      const others = [...sessions.values()].filter(({ project }) => project === session.project).sort((a, b) => b.used_at - a.used_at);
      for (const { hash } of others.slice(most - 1)) sessions.delete(hash);
      sessions.set(session.hash, session);
      await nextTurn();
      return true;
    },
    async useSession(hash, at) {
      const session = sessions.get(hash);
      if (session) sessions.set(hash, { ...session, used_at: at });
      await nextTurn();
    },
    async deleteSession(hash) {
      sessions.delete(hash);
      await nextTurn();
    },
    password: () => tables.password,
    async setPassword(password) {
      const before = tables.password;
      tables.password = password;
      if (before) deleteSessions(({ origin }) => origin === before.hash);
      await nextTurn();
    },
    async deleteEnded(at, unusedSince) {
      for (const link of links.values()) if (link.expires_at < at) links.delete(link.hash);
      deleteSessions(({ used_at, ends_at }) => used_at < unusedSince || ends_at < at);
      await nextTurn();
    },
    address: () => tables.address,
    async keepAddress(url) {
      tables.address = url;
      await nextTurn();
    },
  };
}
