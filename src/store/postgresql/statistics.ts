import { limits } from '../../limits.js';
import type { Database } from './database.js';

/** The tables that have at least doubled since the database last analyzed them, small ones aside. Another role may own a table: it is left out. */
const GROWN = `select string_agg(format('%I', relname), ', ') as tables from pg_class
  where relnamespace = current_schema()::regnamespace and relkind = 'r' and pg_has_role(relowner, 'usage')
  and pg_relation_size(oid) >= 2 * greatest(relpages, ${limits.analyzedPages}) * current_setting('block_size')::int8`;

/**
 * Has the database analyze tables that have doubled. It does so by itself, but at most once a minute, and statements keep their plans until then. In
 * a new installation these plans are for tables of a few rows, to which the first large suite adds some hundred thousand.
 */
export async function analyzeGrown(database: Database): Promise<void> {
  const [row] = await database.read<{ tables: string | null }>(GROWN);
  // This skips a table that is being analyzed for another process, or by the database itself.
  if (row?.tables) await database.read(`analyze (skip_locked) ${row.tables}`);
}

/** Analyzes such tables once a second. Returns the function that ends this. */
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
