import { timingSafeEqual } from 'node:crypto';
import { DAY_MILLISECONDS } from '../../../base/time.js';
import { hashOf, newToken, tokenId } from '../access.js';
import type { Link, Session, SignIns } from '../ports/sign-ins.js';
import type { Millis } from '../ports/store.js';
import { Refusal } from '../refusal.js';

/** Validity of a sign-in link of an operator. */
export const OPERATOR_LINK_MILLISECONDS = 600_000;
/** Links in force of operators, and of each project. */
export const LINKS_PER_PROJECT = 100;
/** Sessions of operators, and of each project; beyond it the one that was not used for longest ends. */
export const SESSIONS_PER_PROJECT = 200;
/** A session ends when it is not used for this long. */
export const SESSION_IDLE_DAYS = 14;
/** A session ends this long after its beginning. */
export const SESSION_DAYS = 90;
/** Interval at which the last use of a session is stored. */
const SESSION_USE_UPDATE_MILLISECONDS = 300_000;

/** A session or link that was just created, with its secret. The store has only the hash of the secret. */
export type WithSecret<T> = T & { secret: string };

/** Creates a link that signs an operator in, once and soon. Throws a Refusal when there are too many. */
export function createOperatorLink(signIns: SignIns, at: Millis): Promise<WithSecret<Link>> {
  return createLink(signIns, null, at, at + OPERATOR_LINK_MILLISECONDS);
}

/** Creates a link that shows a project, read-only, for some days. Throws a Refusal when there are too many. */
export function createReaderLink(signIns: SignIns, project: number, days: number, at: Millis): Promise<WithSecret<Link>> {
  return createLink(signIns, project, at, at + days * DAY_MILLISECONDS);
}

async function createLink(signIns: SignIns, project: number | null, at: Millis, expires_at: Millis): Promise<WithSecret<Link>> {
  const inForce = (await signIns.links()).filter(link => link.project === project && link.expires_at > at);
  if (inForce.length >= LINKS_PER_PROJECT)
    throw new Refusal(`cannot create a link: ${inForce.length} are in force; revoke one, or wait until one expires`);
  const secret = newToken();
  const link: Link = { hash: hashOf(secret), project, created_at: at, expires_at };
  await signIns.createLink(link);
  return { ...link, secret };
}

/** The link in force with a secret; null: there is none. */
export async function findLink(signIns: SignIns, secret: string, at: Millis): Promise<Link | null> {
  const link = withHash(await signIns.link(hashOf(secret)), secret);
  return link && link.expires_at > at ? link : null;
}

/** Creates a session from a link. Null: the link was used up or deleted meanwhile. */
export function signInWithLink(signIns: SignIns, { hash, project, expires_at }: Link, at: Millis): Promise<WithSecret<Session> | null> {
  const ends_at = at + SESSION_DAYS * DAY_MILLISECONDS;
  return createSession(signIns, { project, origin: hash, ends_at: project === null ? ends_at : Math.min(ends_at, expires_at) }, at);
}

/** Creates an operator's session from a password. Null: the password was changed meanwhile. */
export function signInWithPassword(signIns: SignIns, origin: string, at: Millis): Promise<WithSecret<Session> | null> {
  return createSession(signIns, { project: null, origin, ends_at: at + SESSION_DAYS * DAY_MILLISECONDS }, at);
}

async function createSession(
  signIns: SignIns,
  { project, origin, ends_at }: Pick<Session, 'project' | 'origin' | 'ends_at'>,
  at: Millis,
): Promise<WithSecret<Session> | null> {
  const secret = newToken();
  const session: Session = { hash: hashOf(secret), project, origin, created_at: at, used_at: at, ends_at };
  return (await signIns.createSession(session, SESSIONS_PER_PROJECT)) ? { ...session, secret } : null;
}

/** The session in force with a secret; null: there is none. */
export async function findSession(signIns: SignIns, secret: string, at: Millis): Promise<Session | null> {
  const session = withHash(await signIns.session(hashOf(secret)), secret);
  return session && expiryOf(session) > at ? session : null;
}

/** Why a session is over. `gone`: it was ended, its link was revoked, or its record was deleted since. */
export type SessionEnd = 'unused' | 'old' | 'link' | 'gone';

/** Why the session with a secret is not in force. */
export async function endOf(signIns: SignIns, secret: string, at: Millis): Promise<SessionEnd> {
  const session = withHash(await signIns.session(hashOf(secret)), secret);
  if (!session) return 'gone';
  const { created_at, ends_at } = session;
  if (ends_at > at) return 'unused';
  return ends_at - created_at < SESSION_DAYS * DAY_MILLISECONDS ? 'link' : 'old';
}

/** Reports whether the use of a session at this time is to be stored. */
export function isUseStale({ used_at }: Session, at: Millis): boolean {
  return at - used_at >= SESSION_USE_UPDATE_MILLISECONDS;
}

/** When a session ends if it is not used again. */
export function expiryOf({ used_at, ends_at }: Session): Millis {
  return Math.min(used_at + SESSION_IDLE_DAYS * DAY_MILLISECONDS, ends_at);
}

/** The id that names a link or session in lists. Its secret cannot be derived from it. */
export const signInId = tokenId;

/** Revokes a link, and ends the sessions that came from it. Throws a Refusal when no link has the id. */
export async function revokeLink(signIns: SignIns, id: string): Promise<void> {
  const link = (await signIns.links()).find(each => signInId(each) === id);
  if (!link) throw new Refusal('cannot revoke the link: no link has this id; it may have been used or have expired');
  await signIns.deleteLink(link.hash);
}

/** Ends a session. Throws a Refusal when no session has the id. */
export async function endSession(signIns: SignIns, id: string): Promise<void> {
  const session = (await signIns.sessions()).find(each => signInId(each) === id);
  if (!session) throw new Refusal('cannot end the session: no session has this id; it may have ended');
  await signIns.deleteSession(session.hash);
}

/** Deletes links and sessions that are no longer in force. */
export function deleteEndedSignIns(signIns: SignIns, at: Millis): Promise<void> {
  return signIns.deleteEnded(at, at - SESSION_IDLE_DAYS * DAY_MILLISECONDS);
}

/** The look-up is by hash, so its duration reveals nothing about secrets. */
function withHash<T extends { hash: string }>(found: T | null, secret: string): T | null {
  return found && timingSafeEqual(Buffer.from(found.hash), Buffer.from(hashOf(secret))) ? found : null;
}
