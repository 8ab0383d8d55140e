import { createHash } from 'node:crypto';

/**
 * Records that both stores keep, as rows of the tables in PostgreSQL (see schema.ts) without the columns that only one of them has: turns, indexes,
 * the numbers of queues. A row has these columns. A database reads the rows of a table in the order of its key, which has an index. The queues of a
 * build come in the order of their creation; the journal has a row for each group of changes, from 0 on, and those of a folder have the attempt 0.
 * 'identities' has the last number that was given to a project or a build.
 */
export const MOVED = {
  ballast: { key: 'name', columns: 'name text, value int8' },
  kept_values: { key: 'name', columns: 'name text, value text' },
  projects: {
    key: 'id',
    columns: `id int4, name text, created_at int8, deleted_at int8, default_branch text, is_default_branch_set bool, has_test_cases bool,
      settings text`,
  },
  tokens: { key: 'hash', columns: 'hash text, project int4, name text, created_at int8, used_at int8, revoked_at int8' },
  links: { key: 'hash', columns: 'hash text, project int4, created_at int8, expires_at int8' },
  sessions: {
    key: 'hash',
    columns: 'hash text, project int4, origin text, is_of_password bool, created_at int8, used_at int8, ends_at int8',
  },
  builds: {
    key: 'number',
    columns: `number int4, key text, id text, project int4, commit_key text, branch_key text, node_total int4, names text, created_at int8,
      updated_at int8, recorded int4, subsets int4, test_files int8`,
  },
  summaries: { key: 'build', columns: 'build int4, summary text' },
  failures: { key: 'build', columns: 'build int4, project int4, record bytea' },
  runs: {
    key: 'build, node_index, run',
    columns: `build int4, node_index int4, run int4, id text, created_at int8, ordinal int4, ci_run int8, asked_at int8, has_no_test boolean, test_files int4,
      times bytea`,
  },
  paths: { key: 'number', columns: 'number int4, project int4, key bytea, name text, seen_at int8, timings bytea' },
  splits: {
    key: 'key',
    columns: `key text, id text, project int4, node_total int4, created_at int8, runs_before int4, used_at int8, list text, other_list text,
      forecast text`,
  },
  split_uses: { key: 'split, ci_run', columns: 'split text, ci_run text, at int8, runs_before int4, other_list text' },
  queues: {
    key: 'build, number',
    columns: `id text, key text, name text, project int4, build text, node_total int4, guessed bool, learned text, created_at int8,
      runs_before int4, copied_at int8, copied_runs_before int4, used_at int8, list text, other_list text, forecast text`,
  },
  pieces: { key: 'owner, part', columns: 'owner text, part int4, bytes bytea' },
  journal: { key: 'queue, position', columns: 'queue text, position int4, attempt int8, changes bytea' },
  ci_runs: {
    key: 'id',
    columns: `id text, project int4, kind text, plan text, ci_run text, digest int8, build text, names text, node_total int4, created_at int8,
      runs_before int4, links text, tree text, summary text`,
  },
  nodes: { key: 'ci_run, node_index', columns: 'ci_run text, node_index int4, job_url text, checkout text, command text' },
  spared: { key: 'ci_run, key', columns: 'ci_run text, key text, record text' },
  days: { key: 'project, branch, day', columns: 'project int4, branch text, day int4, counted int4, summary text' },
  batch_costs: { key: 'project, mode', columns: 'project int4, mode text, sums text' },
  cases: { key: 'project, file, piece', columns: 'project int4, file text, piece int4, at int8, report text' },
  deliveries: { key: 'project, key', columns: 'project int4, key text, id text, event text, created_at int8, attempts int4, due_at int8' },
  identities: { key: 'name', columns: 'name text, value int8' },
} satisfies Record<string, { key: string; columns: string }>;

export type MovedTable = keyof typeof MOVED;
export type Row = Record<string, string | number | boolean | Buffer | null>;

export const MOVED_TABLES = Object.keys(MOVED) as MovedTable[];

/** The columns of a table, with their types. */
export function columnsOf(table: MovedTable): [name: string, type: string][] {
  return MOVED[table].columns.split(/,\s+/).map(column => column.split(' ') as [string, string]);
}

/** A store that no server has open, and in which the times of all recorded runs count. */
export interface Side {
  rows(table: MovedTable): AsyncIterable<Row> | Iterable<Row>;
  /** Puts some rows of a table, after those of the tables before. It may be called again with the same rows. */
  put(table: MovedTable, rows: readonly Row[]): Promise<void>;
}

/** Rows that are put at once. */
const SOME = 200;

/**
 * Copies a store to an empty one, and compares both. Throws a sentence when the other one is not empty, or when they differ.
 *
 * @param seen called with the table of each row that is copied
 */
export async function move(from: Side, to: Side, seen: (table: MovedTable) => void): Promise<void> {
  for (const table of MOVED_TABLES) {
    if (table === 'ballast' || table === 'identities') continue;
    for await (const _ of to.rows(table)) throw new Error(`the target is not empty: it has ${table}; name another one`);
  }
  const before = new Map<MovedTable, string>();
  for (const table of MOVED_TABLES) {
    const digest = new TableDigest(table);
    let rows: Row[] = [];
    for await (const row of from.rows(table)) {
      seen(table);
      digest.add(row);
      if (rows.push(row) < SOME) continue;
      await to.put(table, rows);
      rows = [];
    }
    if (rows.length > 0) await to.put(table, rows);
    before.set(table, digest.text);
  }
  for (const [table, digest] of before) {
    const moved = await digestOf(to, table);
    if (moved !== digest) throw new Error(`the ${table} differ after the move: ${digest} in the source, and ${moved} in the target`);
  }
}

/** The number of rows of a table, and a digest of them. */
export async function digestOf(side: Side, table: MovedTable): Promise<string> {
  const digest = new TableDigest(table);
  for await (const row of side.rows(table)) digest.add(row);
  return digest.text;
}

class TableDigest {
  #count = 0;
  readonly #sum = Buffer.alloc(16);
  readonly #columns: string[];

  constructor(table: MovedTable) {
    // A folder has no attempts, and knows the project of a plan only as long as its CI run is kept.
    const left = table === 'splits' || table === 'queues' ? ['project'] : ['attempt'];
    this.#columns = columnsOf(table).flatMap(([name]) => (left.includes(name) ? [] : name));
  }

  add(row: Row): void {
    this.#count += 1;
    const hash = createHash('sha256');
    for (const column of this.#columns) {
      const value = row[column]!;
      hash.update(`${column} `).update(Buffer.isBuffer(value) ? value : JSON.stringify(value));
    }
    const bytes = hash.digest();
    // In any order.
    for (const i of this.#sum.keys()) this.#sum[i]! ^= bytes[i]!;
  }

  get text(): string {
    return `${this.#count} rows (${this.#sum.toString('hex')})`;
  }
}
