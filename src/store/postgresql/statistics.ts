import { limits } from '../../limits.js';
import type { Database } from './database.js';

/** The tables that have twice the pages, and a few, that they had when the database last looked at them. Another role may own them. */
const GROWN = `select string_agg(format('%I', relname), ', ') as tables from pg_class
  where relnamespace = current_schema()::regnamespace and relkind = 'r' and pg_has_role(relowner, 'usage')
  and pg_relation_size(oid) >= 2 * greatest(relpages, ${limits.analyzedPages}) * current_setting('block_size')::int8`;

/**
 * Has the database look at tables that have doubled. It does so by itself, but once a minute at most, and statements keep their plans until then: in a
 * new installation those are plans for tables of some rows, of which the first large suite makes some hundred thousand.
 */
export async function analyzeGrown(database: Database): Promise<void> {
  const [row] = await database.read<{ tables: string | null }>(GROWN);
  // A table that another process has it look at, or that it looks at itself, is passed over.
  if (row?.tables) await database.read(`analyze (skip_locked) ${row.tables}`);
}

/** Does that once a second. Returns what ends it. */
export function keepStatistics(database: Database): () => void {
  let isLooking = false;
  const look = () => {
    if (isLooking) return;
    isLooking = true;
    analyzeGrown(database)
      // Statements are slower without this, and it is tried again.
      .catch(() => {})
      .finally(() => (isLooking = false));
  };
  const timer = setInterval(look, limits.databaseWatchMilliseconds).unref();
  return () => clearInterval(timer);
}
