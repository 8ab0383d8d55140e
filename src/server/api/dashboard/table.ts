import type { Role } from '../../../protocol/messages/dashboard.js';
import type { Session } from '../../engine/ports/sign-ins.js';
import { roleOf } from '../../engine/sign-in/role.js';
import { signInId } from '../../engine/sign-in/sign-in.js';
import type { Answer, Request } from '../../http/request.js';
import type { Context } from '../context.js';
import type { Handle } from '../endpoint.js';
import { apiErrors } from '../errors.js';
import { json } from '../json.js';
import { decodeDashboardBody } from '../read/dashboard-request.js';
import type { RawParameters } from '../read/validation.js';
import {
  answerAccess,
  answerProjects,
  answerSettings,
  changeSettingsOf,
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
import { answerServer } from './server.js';
import { requireOwnPage, requireSession } from './session.js';
import { answerSession, signIn, signOut } from './sign-in.js';

/** The pages, and their requests: see protocol/messages/dashboard.ts. Only a port that serves the dashboard has them. */
export const dashboardTable: Readonly<Record<string, { [method: string]: Handle }>> = {
  '/': { GET: ({ dashboard }, request) => pageAnswer(dashboard!.files, request) },
  '/assets': { GET: ({ dashboard }, request) => assetAnswer(dashboard!.files, request) },
  '/dashboard/session': { GET: read('reader', answerSession) },
  '/dashboard/sign_in': { POST: signIn },
  '/dashboard/sign_out': { POST: signOutOfOwnPage },
  '/dashboard/access': { GET: read('operator', answerAccess) },
  '/dashboard/server': { GET: read('operator', answerServer) },
  '/dashboard/projects': { GET: read('reader', answerProjects), POST: change(makeProject) },
  '/dashboard/projects/settings': { GET: read('operator', answerSettings), POST: change(changeSettingsOf) },
  '/dashboard/projects/rename': { POST: change(renameProjectTo) },
  '/dashboard/projects/delete': { POST: change(deleteProject) },
  '/dashboard/tokens': { POST: change(makeToken) },
  '/dashboard/tokens/revoke': { POST: change(revokeTokenById) },
  '/dashboard/links': { POST: change(makeLink) },
  '/dashboard/links/revoke': { POST: change(revokeLinkById) },
  '/dashboard/sessions/end': { POST: change(endSessionById) },
};
/** The endpoint of a path; null: the dashboard has no such path. */
export function dashboardEndpointOf(path: string): string | null {
  if (isAsset(path)) return '/assets';
  if (Object.hasOwn(dashboardTable, path)) return path;
  return isPage(path) ? '/' : null;
}

/** A GET for those who are signed in. */
function read(role: Role, answer: (context: Context, request: Request, session: Session) => Promise<Answer>): Handle {
  return async (context, request) => {
    const session = await requireSession(context, request);
    if (role === 'operator') requireOperator(session);
    return answer(context, request, session);
  };
}

/** A POST of an operator that changes something. */
function change(make: (context: Context, message: RawParameters, request: Request) => Promise<object>): Handle {
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

async function signOutOfOwnPage(context: Context, request: Request): Promise<Answer> {
  requireOwnPage(context, request);
  return signOut(context, request, await requireSession(context, request));
}

function requireOperator(session: Session): void {
  if (roleOf(session) !== 'operator') throw apiErrors.operatorsOnly();
}
