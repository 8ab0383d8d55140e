import type { Request } from '../../http/request.js';
import type { Context } from '../context.js';
import { projectOfSession } from '../dashboard/session.js';
import type { Asker } from '../job-runner.js';
import { admit } from './public-token.js';
import { authenticate } from './token.js';

/**
 * The project of the token in a request's header, or, for a page of the dashboard, the one that it names. Throws a 403 or 429, or, for a page,
 * a 401. Only handlers of GET may call it: nothing shows that a request with a session came from a page.
 */
export async function projectOf(context: Context, request: Request): Promise<number> {
  if (isOfPage(context, request)) return await projectOfSession(context, request);
  const project = await authenticate(context.store.access, request.token, context.tokenHeader, context.now());
  admit(context, request, project, 0);
  return project;
}

/** The project of a request, as `projectOf` finds it, with what the job runner needs of the request. Throws as `projectOf`. */
export async function askerOf(context: Context, request: Request): Promise<Asker> {
  return { project: await projectOf(context, request), isPage: isOfPage(context, request), hasLeft: request.hasLeft };
}

function isOfPage({ dashboard }: Context, { token, project }: Request): boolean {
  return token === null && project !== '' && dashboard !== null;
}
