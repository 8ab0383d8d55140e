import { isIP } from 'node:net';
import { timestamp } from '../../../base/time.js';
import { version } from '../../../base/version.js';
import type { SessionAnswer } from '../../../protocol/messages/dashboard.js';
import type { Link, Session } from '../../engine/ports/sign-ins.js';
import { ownerNameOf } from '../../engine/public-side/side.js';
import { shownSettings } from '../../engine/setting-texts.js';
import { projectsOf, roleOf } from '../../engine/sign-in/role.js';
import { expiryOf, findLink, signInId, signInWithLink, signInWithPassword, type WithSecret } from '../../engine/sign-in/sign-in.js';
import type { ApiError } from '../../http/api-error.js';
import type { Answer, Request } from '../../http/request.js';
import type { Context, Dashboard } from '../context.js';
import { apiErrors } from '../errors.js';
import { json } from '../json.js';
import { decodeDashboardBody, toSignIn } from '../read/dashboard-request.js';
import { findSessionOf, read, requireOwnPage, requireSession, sessionCookie } from './session.js';

async function answerSession(context: Context, request: Request, session: Session): Promise<Answer> {
  const { store, publicUrl, tokenHeader, dashboard } = context;
  const projects = await projectsOf(store.access, session);
  const answer: SessionAnswer = {
    role: roleOf(session),
    expires_at: timestamp(expiryOf(session)),
    projects: projects.map(({ id, name, default_branch, settings }) => ({
      id,
      name,
      public_side_of: ownerNameOf({ id, name }),
      default_branch,
      settings: shownSettings(settings),
    })),
    has_password: (await store.values.get('password')) !== null,
    version,
    url: publicUrl ?? dashboard?.apiUrl() ?? `${request.scheme}://${request.host}`,
    token_header: tokenHeader,
  };
  return json(200, answer);
}

/**
 * Creates a session from a link or the password. Throws a 401 when it is wrong, and a 429 after too many
 * failed ones. A valid link is never throttled, so that strangers cannot lock an operator out. An operator who opens a reader's link stays an operator.
 */
async function signIn(context: Context, request: Request): Promise<Answer> {
  requireOwnPage(context, request);
  const address = request.peer.address();
  const { link: secret, password = '' } = toSignIn(decodeDashboardBody(request));
  const { store, now, log, dashboard } = context;
  const before = await findSessionOf(context, request);
  const link = secret === undefined ? null : await findLink(store.signIns, secret, now());
  if (before && roleOf(before) === 'operator' && link && roleOf(link) === 'reader') return answerSession(context, request, before);
  try {
    const session =
      secret === undefined
        ? await sessionOfPassword(context, dashboard!, password, networkOf(address))
        : await sessionOfLink(context, dashboard!, link, networkOf(address));
    if (before) await store.signIns.deleteSession(before.hash);
    log.info({ session: signInId(session), project: session.project, address }, 'signed in to the dashboard');
    return { ...(await answerSession(context, request, session)), headers: sessionCookie(request, session.secret) };
  } catch (error) {
    if ((error as ApiError).status === 401) log.warn({ address }, 'sign-in to the dashboard failed');
    throw error;
  }
}

async function sessionOfLink(
  { store, now }: Context,
  { passwords }: Dashboard,
  link: Link | null,
  network: string,
): Promise<WithSecret<Session>> {
  const session = link && (await signInWithLink(store.signIns, link, now()));
  if (session) return session;
  const wait = passwords.throttle.attempt(network, now());
  throw wait > 0 ? tooMany(wait) : apiErrors.linkInvalid();
}

async function sessionOfPassword(
  { store, now }: Context,
  { passwords }: Dashboard,
  text: string,
  network: string,
): Promise<WithSecret<Session>> {
  const password = await passwords.check(store.values, text, network, now());
  if (typeof password === 'number') throw tooMany(password);
  const session = password && (await signInWithPassword(store.signIns, password.hash, now()));
  if (!session) throw apiErrors.passwordWrong();
  return session;
}

function tooMany(milliseconds: number): ApiError {
  return apiErrors.tooManySignIns(Math.ceil(milliseconds / 1000));
}

async function signOut(context: Context, request: Request): Promise<Answer> {
  requireOwnPage(context, request);
  const { hash } = await requireSession(context, request);
  await context.store.signIns.deleteSession(hash);
  return { ...json(200, {}), headers: sessionCookie(request, null) };
}

/**
 * Key by which failed sign-ins are counted: an IPv4 address, or the first 64 bits of an IPv6 address, because a host may use all addresses that share
 * them.
 */
export function networkOf(address: string): string {
  const [plain = ''] = address.split('%');
  if (isIP(plain) !== 6) return plain;
  const short = new URL(`http://[${plain}]`).hostname.slice(1, -1);
  // An IPv4 address on a socket for both.
  if (short.startsWith('::ffff:')) return short;
  const [before = [], after = []] = short.split('::').map(half => half.split(':').filter(Boolean));
  const zeros = Array<string>(8 - before.length - after.length).fill('0');
  return [...before, ...zeros, ...after].slice(0, 4).join(':');
}

export const signInRows = {
  '/dashboard/session': { GET: read('reader', answerSession) },
  '/dashboard/sign_in': { POST: signIn },
  '/dashboard/sign_out': { POST: signOut },
};
