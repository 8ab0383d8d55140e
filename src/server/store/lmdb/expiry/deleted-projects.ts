import type { Millis } from '../../../engine/ports/store.js';
import type { ExpiryKey } from '../records.js';
import type { Tables } from '../tables.js';
import { type Committing, commit } from '../writes/commit.js';

/** Paths, or entries of `expiry`, that one step of the sweep checks. */
export const PATHS_PER_STEP = 500;

/**
 * A deleted project is a record without a name. The sweep lets everything expire that the project recorded, and removes the record after
 * a sweep that found nothing of it. So a sweep that a crash interrupts goes on with the next one.
 */

type ExpiryTables = Pick<Tables, 'builds' | 'ciRunKeys' | 'expiry'>;

/** The time of the records in `expiry` that expire whatever their age. */
export const EXPIRED: Millis = 0;

/** Before all entries of `expiry` that are not EXPIRED. */
export const FIRST_ENTRY: ExpiryKey = [EXPIRED + 1, ''];

/** Reports whether a record has its entry in `expiry`, or has had it moved to EXPIRED. */
export function willExpire({ expiry }: Pick<Tables, 'expiry'>, entry: ExpiryKey): boolean {
  const [, ...rest] = entry;
  return expiry.doesExist(entry) || expiry.doesExist([EXPIRED, ...rest]);
}

/** The projects that were deleted before a time. */
export function deletedProjects({ projects }: Pick<Tables, 'projects'>, before: Millis): Set<number> {
  const isDue = (deleted_at = Infinity) => deleted_at < before;
  return new Set([...projects.getRange()].flatMap(({ key, value }) => (isDue(value.deleted_at) ? key : [])));
}

/**
 * Makes one step over all entries of `expiry` after one, and moves those of deleted projects to EXPIRED. Resolves with the entry to
 * continue after; null: it was the last step.
 */
export async function expireProjects(
  parts: ExpiryTables & Committing,
  isDeleted: (project: number) => boolean,
  after: ExpiryKey,
): Promise<ExpiryKey | null> {
  const { expiry } = parts;
  const keys = [...expiry.getKeys({ start: after, exclusiveStart: true, limit: PATHS_PER_STEP })];
  const due = keys.filter(key => {
    const project = ownerOf(parts, key);
    return project !== undefined && isDeleted(project);
  });
  if (due.length > 0) {
    await commit(parts, () => {
      for (const key of due) {
        const [, ...rest] = key;
        void expiry.remove(key);
        void expiry.put([EXPIRED, ...rest], true);
      }
    });
  }
  return keys.length === PATHS_PER_STEP ? keys.at(-1)! : null;
}

/** Removes the records of projects of which nothing is left. */
export function forgetProjects(parts: Pick<Tables, 'projects' | 'batchCosts'> & Committing, ids: readonly number[]): Promise<void> {
  return commit(parts, () => {
    for (const id of ids) {
      void parts.projects.remove(id);
      for (const mode of ['queue', 'split'] as const) void parts.batchCosts.remove([id, mode]);
    }
  });
}

/** Undefined: another record leads to it, or it was removed already, and expires as it is. */
function ownerOf({ builds, ciRunKeys }: ExpiryTables, [, kind, ...key]: ExpiryKey): number | undefined {
  switch (kind) {
    case 'build':
      return builds.get(key[0] as number)?.project;
    // The first CI run of a queue or split has its id.
    case 'queue':
    case 'ci_run':
      return ciRunKeys.get(key[0] as string)?.[0];
    case 'split':
      return ciRunKeys.get(key[1] as string)?.[0];
    case 'day':
    case 'cases':
      return key[0] as number;
    default:
      return undefined;
  }
}
