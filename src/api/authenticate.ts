import { apiErrors } from '../api-error.js';
import { projectOfToken } from '../engine/access.js';
import type { Access } from '../engine/ports/access.js';

/** The project of a token in force. Throws the 403. @param header the header that the sentence names when no token was sent */
export async function authenticate(access: Access, token: string | null, header: string): Promise<number> {
  if (token === null) throw apiErrors.tokenMissing(header);
  const project = await projectOfToken(access, token);
  if (project === null) throw apiErrors.tokenInvalid();
  return project;
}
