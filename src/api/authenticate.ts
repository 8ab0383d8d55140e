import { apiErrors } from '../api-error.js';
import { findToken } from '../engine/access.js';
import type { Access } from '../engine/ports/access.js';
import type { Request } from '../http/request.js';
import type { Context } from './context.js';

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

/** The project of the token in a request's header. Throws the 403. */
export function projectOf({ store, tokenHeader }: Context, { token }: Request): Promise<number> {
  return authenticate(store.access, token, tokenHeader);
}
