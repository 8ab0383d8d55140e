import type { Tables } from '../tables.js';
import { type Problem, problemOf } from './problem.js';

/**
 * Problems of splits and queues that share files: some that do not know whose files they have, and files that would be deleted too early
 * or never.
 *
 * @param exists whether an id is of a split or queue, which may be expiring
 */
export function* problemsOfSharedFiles({ filesOf, fileUsers }: Tables, exists: (id: string) => boolean): Generator<Problem> {
  for (const { key: id, value: owner } of filesOf.getRange()) {
    const problem = problemOf('filesOf', id);
    if (!exists(id)) yield problem('is of no split or queue', () => filesOf.remove(id));
    else if (!fileUsers.doesExist([owner, id])) yield problem(`has the files of ${owner}, which does not count it`, use(owner, id));
    else if (exists(owner) && !fileUsers.doesExist([owner, owner]))
      yield problem(`has the files of ${owner}, which does not count itself`, use(owner, owner));
  }
  for (const key of fileUsers.getKeys()) {
    const [owner, user] = key;
    const problem = problemOf('fileUsers', key);
    if (!exists(user)) yield problem('is of no split or queue', () => fileUsers.remove(key));
    else if (user !== owner && !filesOf.doesExist(user))
      yield problem('is of one that does not know whose files it has', () => filesOf.put(user, owner));
  }

  function use(owner: string, user: string) {
    return () => fileUsers.put([owner, user], true);
  }
}
