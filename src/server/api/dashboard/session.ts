import type { Role } from '../../../protocol/messages/dashboard.js';
import type { Session } from '../../engine/ports/sign-ins.js';
import { mayRead, roleOf } from '../../engine/sign-in/role.js';
import { endOf, findSession, isUseStale, SESSION_DAYS, signInId } from '../../engine/sign-in/sign-in.js';
import type { Answer, Request } from '../../http/request.js';
import type { Context } from '../context.js';
import type { Handle } from '../endpoint.js';
import { apiErrors } from '../errors.js';
import { json } from '../json.js';
import { decodeDashboardBody } from '../read/dashboard-request.js';
import type { RawParameters } from '../read/validation.js';

/** Projects are numbered from 1. */
const NO_PROJECT = 0;

/** The session of a request's cookie; null: it has none in force. */
export async function findSessionOf({ store, now, log }: Context, request: Request): Promise<Session | null> {
  const secret = sessionSecret(request);
  if (secret === null) return null;
  const at = now();
  const session = await findSession(store.signIns, secret, at);
  if (!session || !isUseStale(session, at)) return session;
  store.signIns.useSession(session.hash, at).catch((err: unknown) => log.error({ err }, 'could not note the use of a session'));
  return { ...session, used_at: at };
}

/** The session of a request's cookie. Throws a 401 when it has none in force. */
export async function requireSession(context: Context, request: Request): Promise<Session> {
  const session = await findSessionOf(context, request);
  if (session) return session;
  const secret = sessionSecret(request);
  throw secret === null ? apiErrors.signedOut() : apiErrors.sessionEnded(await endOf(context.store.signIns, secret, context.now()));
}

/** A GET for those who are signed in. */
export function read(role: Role, answer: (context: Context, request: Request, session: Session) => Promise<Answer>): Handle {
  return async (context, request) => {
    const session = await requireSession(context, request);
    if (role === 'operator') requireOperator(session);
    return answer(context, request, session);
  };
}

/** A POST of an operator that changes something. */
export function change(make: (context: Context, message: RawParameters, request: Request) => Promise<object>): Handle {
  return async (context, request) => {
    requireOwnPage(context, request);
    const message = decodeDashboardBody(request);
    const session = await requireSession(context, request);
    requireOperator(session);
    const answer = json(200, await make(context, message, request));
    context.log.info({ session: signInId(session), path: request.path }, 'changed with the dashboard');
    return answer;
  };
}

function requireOperator(session: Session): void {
  if (roleOf(session) !== 'operator') throw apiErrors.operatorsOnly();
}

/**
 * The project that a page of the dashboard names in Ballast-Project, for a GET of the API. Throws a 401 without a session in force, and a
 * 403 when the session does not show the project.
 */
export async function projectOfSession(context: Context, request: Request): Promise<number> {
  const session = await requireSession(context, request);
  const project = /^\d{1,15}$/.test(request.project) ? Number(request.project) : NO_PROJECT;
  if (!mayRead(session, project) || !(await context.store.access.project(project))) throw apiErrors.projectNotReadable();
  return project;
}

/**
 * Throws a 403 unless the request came from a page of this dashboard. SameSite=Strict keeps the cookie from other sites, but other ports
 * and subdomains are the same site. A page of another origin cannot send the header Ballast-Dashboard, because no answer permits it (CORS).
 */
export function requireOwnPage({ publicUrl }: Context, { origin, fetchSite, host, dashboard }: Request): void {
  const isOwn = fetchSite === '' ? isOwnOrigin(origin, host, publicUrl) : fetchSite === 'same-origin';
  if (!isOwn || dashboard !== '1') throw apiErrors.notOwnPage();
}

function isOwnOrigin(origin: string, host: string, publicUrl: string | null): boolean {
  if (!URL.canParse(origin)) return false;
  const { host: originHost } = new URL(origin);
  const ownHosts = [host, ...(publicUrl === null ? [] : [new URL(publicUrl).host])];
  return ownHosts.some(own => own.toLowerCase() === originHost);
}

/** Browsers accept the first name only over TLS, for this host alone and all of its paths. */
const SECURE_NAME = '__Host-ballast';
const PLAIN_NAME = 'ballast_session';

/** The secret in the session cookie; null: there is none. Over TLS only the secure name counts, because others can set the plain one. */
export function sessionSecret({ cookie, scheme }: Request): string | null {
  const names = scheme === 'https' ? [SECURE_NAME] : [SECURE_NAME, PLAIN_NAME];
  for (const name of names) {
    for (const pair of cookie.split(';')) {
      const [key, value = ''] = pair.split('=');
      if (key?.trim() === name && /^[0-9a-f]{64}$/.test(value.trim())) return value.trim();
    }
  }
  return null;
}

/** The header that gives a browser a session, until it is signed out or the session ends. @param secret null: it takes the session away */
export function sessionCookie({ origin, scheme }: Request, secret: string | null): { 'Set-Cookie': string } {
  // The browser's own word, which no proxy changes.
  const isSecure = origin === '' ? scheme === 'https' : origin.startsWith('https://');
  const name = isSecure ? SECURE_NAME : PLAIN_NAME;
  const seconds = secret === null ? 0 : SESSION_DAYS * 86_400;
  return { 'Set-Cookie': `${name}=${secret ?? ''}; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Strict${isSecure ? '; Secure' : ''}` };
}
