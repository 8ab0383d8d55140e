import type { Database } from './database.js';
import { codeOf } from './errors.js';
import { BOUNDS } from './options.js';

/** The longest wait until tables are analyzed again after that failed. */
const ANALYZE_RETRY_MILLISECONDS = 600_000;
/** A table with fewer than twice this many pages need not be analyzed: a plan that reads all of it takes no longer. */
const ANALYZED_PAGES = 8;

/** The tables that have at least doubled since the database last analyzed them, small ones aside. Another role may own a table: it is left out. */
const GROWN = `select format('%I', relname) as name from pg_class
  where relnamespace = current_schema()::regnamespace and relkind = 'r' and pg_has_role(relowner, 'usage')
  and pg_relation_size(oid) >= 2 * greatest(relpages, ${ANALYZED_PAGES}) * current_setting('block_size')::int8
  order by pg_relation_size(oid)`;

/**
 * Has the database analyze tables that have doubled. It does so by itself, but at most once a minute, and statements keep their plans until then. In
 * a new installation these plans are for tables of a few rows, to which the first large suite adds some hundred thousand.
 */
export async function analyzeGrown(database: Pick<Database, 'read'>): Promise<void> {
  // The smallest first, and each by itself: the largest is the one that may take longer than a statement may.
  for (const { name } of await database.read<{ name: string }>(GROWN)) {
    // This skips a table that is being analyzed for another process, or by the database itself.
    await database.read(`analyze (skip_locked) ${name}`);
  }
}

/**
 * Analyzes such tables once a second, and less and less often while that fails. Returns the function that ends this. To find that none has
 * grown takes the database a fraction of a millisecond.
 *
 * @param failed called with the first error of each kind: statements are only slower without this
 */
export function keepStatistics(database: Pick<Database, 'read'>, failed: (error: unknown) => void): () => void {
  const kinds = new Set<string>();
  let failures = 0;
  let hasEnded = false;
  let timer: NodeJS.Timeout;
  const look = async () => {
    try {
      await analyzeGrown(database);
      failures = 0;
    } catch (error) {
      failures += 1;
      const kind = codeOf(error) ?? (error as Error).message;
      if (!hasEnded && !kinds.has(kind)) failed(error);
      kinds.add(kind);
    }
    if (!hasEnded) wait();
  };
  const wait = () => {
    const milliseconds = Math.min(BOUNDS.watch * 2 ** failures, ANALYZE_RETRY_MILLISECONDS);
    timer = setTimeout(() => void look(), milliseconds).unref();
  };
  wait();
  return () => {
    hasEnded = true;
    clearTimeout(timer);
  };
}
