import { apiErrors } from '../api-error.js';
import { hashOf } from '../engine/access.js';
import type { LmdbStore } from '../store/lmdb/store.js';

/** The project of the token; throws the 403. `header` is the one named to who sent no token. */
export function authenticate(store: LmdbStore, token: string | null, header: string): number {
  if (token === null) throw apiErrors.tokenMissing(header);
  const project = projectOfToken(store, token);
  if (project === null) throw apiErrors.tokenInvalid();
  return project;
}

/** The project of a token in force; else null. */
export function projectOfToken({ access }: LmdbStore, token: string): number | null {
  const found = access.token(hashOf(token));
  return found?.revoked_at === null ? found.project : null;
}
