import { apiErrors } from '../api-error.js';
import { findToken } from '../engine/access.js';
import type { Access } from '../engine/ports/access.js';
import type { Request } from '../http/request.js';
import type { Context } from './context.js';
import { projectOfSession } from './dashboard/session.js';

/**
 * The project of a token in force. Throws the 403.
 * @param header the header that the 403 names when no token was sent
 */
export async function authenticate(access: Access, token: string | null, header: string): Promise<number> {
  if (token === null) throw apiErrors.tokenMissing(header);
  const found = await findToken(access, token);
  if (found?.revoked_at !== null) throw apiErrors.tokenInvalid();
  return found.project;
}

/**
 * The project of the token in a request's header, or, for a page of the dashboard, the one that it names. Throws a 403, or, for a page, a
 * 401. Only handlers of GET may call it: nothing shows that a request with a session came from a page.
 */
export function projectOf(context: Context, request: Request): Promise<number> {
  const { store, tokenHeader, dashboard } = context;
  if (request.token === null && request.project !== '' && dashboard) return projectOfSession(context, request);
  return authenticate(store.access, request.token, tokenHeader);
}
