import type { Session } from '../../engine/ports/sign-ins.js';
import { signInId } from '../../engine/sign-in/sign-in.js';
import type { Answer, Request } from '../../http/request.js';
import type { Context, Dashboard } from '../context.js';
import { apiErrors } from '../errors.js';
import { json } from '../json.js';
import type { RawParameters } from '../messages/coerce.js';
import { decodeDashboardBody } from '../messages/dashboard-request.js';
import {
  answerAccess,
  deleteProject,
  endSessionById,
  makeLink,
  makeProject,
  makeToken,
  renameProjectTo,
  revokeLinkById,
  revokeTokenById,
} from './access.js';
import { assetAnswer, isAsset, isPage, pageAnswer } from './pages.js';
import { answerProjects } from './projects.js';
import { secured } from './security-headers.js';
import { answerServer } from './server.js';
import { requireOwnPage, requireSession } from './session.js';
import { answerSession, signIn, signOut } from './sign-in.js';

type Handle = (context: Context, dashboard: Dashboard, request: Request) => Answer | Promise<Answer>;

/** The requests of the dashboard's pages: see api/messages/dashboard.ts. */
const table: Readonly<Record<string, { GET?: Handle; POST?: Handle }>> = {
  '/dashboard/session': { GET: read('reader', answerSession) },
  '/dashboard/sign_in': { POST: signIn },
  '/dashboard/sign_out': { POST: signOutOfOwnPage },
  '/dashboard/access': { GET: read('operator', answerAccess) },
  '/dashboard/server': { GET: read('operator', context => answerServer(context, context.dashboard!)) },
  '/dashboard/projects': { GET: read('reader', answerProjects), POST: change(makeProject) },
  '/dashboard/projects/rename': { POST: change(renameProjectTo) },
  '/dashboard/projects/delete': { POST: change(deleteProject) },
  '/dashboard/tokens': { POST: change(makeToken) },
  '/dashboard/tokens/revoke': { POST: change(revokeTokenById) },
  '/dashboard/links': { POST: change(makeLink) },
  '/dashboard/links/revoke': { POST: change(revokeLinkById) },
  '/dashboard/sessions/end': { POST: change(endSessionById) },
};
const endpoints = new Map(Object.entries(table));

/** Answers a request of the dashboard; null: the dashboard has no such path or method, or this port does not serve it. */
export function routeDashboard(context: Context, request: Request): Answer | Promise<Answer> | null {
  const handle = context.dashboard && handlerOf(request);
  return handle ? secured(() => handle(context, context.dashboard!, request)) : null;
}

/** The endpoint of a path in metrics; null: the dashboard has no such path. */
export function dashboardEndpointOf(path: string): string | null {
  if (isAsset(path)) return '/assets';
  if (endpoints.has(path)) return path;
  return isPage(path) ? '/' : null;
}

function handlerOf({ method, path }: Request): Handle | null {
  const verb = method === 'HEAD' ? 'GET' : method;
  const methods = endpoints.get(path);
  if (methods) {
    const allowed = Object.keys(methods).flatMap(name => (name === 'GET' ? ['GET', 'HEAD'] : [name]));
    const handle = verb === 'GET' || verb === 'POST' ? methods[verb] : undefined;
    return handle ?? (() => Promise.reject(apiErrors.methodNotAllowed(method, path, allowed.join(', '))));
  }
  if (verb !== 'GET') return null;
  if (isPage(path)) return (_, { files }, request) => pageAnswer(files, request);
  return isAsset(path) ? (_, { files }, request) => assetAnswer(files, request) : null;
}

/** A GET for those who are signed in. */
function read(role: 'reader' | 'operator', answer: (context: Context, request: Request, session: Session) => Promise<Answer>): Handle {
  return async (context, _, request) => {
    const session = await requireSession(context, request);
    if (role === 'operator') requireOperator(session);
    return answer(context, request, session);
  };
}

/** A POST of an operator that changes something. */
function change(make: (context: Context, message: RawParameters, request: Request) => Promise<object>): Handle {
  return async (context, _, request) => {
    requireOwnPage(context, request);
    const message = decodeDashboardBody(request);
    const session = await requireSession(context, request);
    requireOperator(session);
    const answer = json(200, await make(context, message, request));
    context.log.info({ session: signInId(session), path: request.path }, 'changed with the dashboard');
    return answer;
  };
}

async function signOutOfOwnPage(context: Context, _: Dashboard, request: Request): Promise<Answer> {
  requireOwnPage(context, request);
  return signOut(context, request, await requireSession(context, request));
}

function requireOperator({ project }: Session): void {
  if (project !== null) throw apiErrors.operatorsOnly();
}
