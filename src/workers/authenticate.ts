import { apiErrors } from '../api-error.js';
import type { Parts } from '../store/lmdb/open.js';
import { projectOfToken } from '../store/lmdb/tokens.js';

/** The project of the token; throws the 403. `header` is the one named to who sent no token. */
export function authenticate(store: Parts, token: string | null, header: string): number {
  if (token === null) throw apiErrors.tokenMissing(header);
  const project = projectOfToken(store, token);
  if (project === null) throw apiErrors.tokenInvalid();
  return project;
}
