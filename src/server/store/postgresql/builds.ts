import { LRUCache } from 'lru-cache';
import { type BuildFilter, type BuildKey, buildDigest, digest } from '../../engine/keys.js';
import type { Build, Builds, RunHead } from '../../engine/ports/builds.js';
import { timesOf } from '../codecs/run-times.js';
import type { Database } from './connection/database.js';
import { ReadTogether } from './connection/read-together.js';
import { fromNames, toNames } from './json.js';
import { lookUp } from './look-up.js';
import type { Paths } from './paths.js';

const BUILD = 'key, number, id, project, names, node_total, created_at, updated_at, recorded, subsets, test_files';
const HEAD = 'node_index, run, id, created_at, ordinal, ci_run, asked_at, has_no_test, test_files';

/** A client may ask for any page, and for what is before any build. */
const MAX_INT4 = 2 ** 31 - 1;

interface BuildRow extends Omit<Build, keyof BuildKey> {
  key: string;
  node_total: number;
  /** The commit hash and the branch, as JSON. */
  names: string;
}

function toBuild({ key: _, names, ...row }: BuildRow): Build {
  return { ...row, ...fromNames(names) };
}

/** The columns in which a build has its key. */
export function keyColumns(project: number, build: BuildKey) {
  const { commit_hash, branch, node_total } = build;
  return {
    key: buildDigest(project, build),
    commit_key: digest(commit_hash),
    branch_key: digest(branch),
    node_total,
    names: toNames(build),
  };
}

/**
 * The newest builds that a filter finds, as the rest of a statement. The order is that of all columns of an index. In the order of the numbers
 * alone, the database may read the builds of all projects, newest first, until enough are of this one.
 */
function newestOf(project: number, { commit_hash, branch, node_total }: BuildFilter, before: number, values: unknown[]): string {
  const columns = ['project'];
  const bounds = [`$${values.push(project)}::int4`];
  const others: string[] = [];
  const add = (column: string, type: string, value: unknown, isInIndex: boolean) => {
    if (value === undefined) return;
    const place = `$${values.push(value)}::${type}`;
    if (isInIndex) {
      columns.push(column);
      bounds.push(place);
    } else others.push(` and ${column} = ${place}`);
  };
  const byCommit = commit_hash !== undefined;
  add('commit_key', 'text', byCommit ? digest(commit_hash) : undefined, true);
  add('branch_key', 'text', branch === undefined ? undefined : digest(branch), !byCommit);
  add('node_total', 'int4', node_total, !byCommit);
  const range = (operator: string, number: string) =>
    `(${[...columns, 'number'].join(', ')}) ${operator} (${[...bounds, number].join(', ')})`;
  const order = [...columns, 'number'].map(column => `${column} desc`);
  return `from builds where ${range('<', `$${values.push(before)}::int4`)} and ${range('>', '0')}${others.join('')} order by ${order.join(', ')}`;
}

/** The condition for a filter, with its values from $1 on. */
function whereOf(project: number, { commit_hash, branch, node_total }: BuildFilter): { where: string; values: unknown[] } {
  const values: unknown[] = [project];
  let where = 'project = $1';
  const add = (column: string, value: unknown) => (where += ` and ${column} = $${values.push(value)}`);
  if (commit_hash !== undefined) add('commit_key', digest(commit_hash));
  if (branch !== undefined) add('branch_key', digest(branch));
  if (node_total !== undefined) add('node_total', node_total);
  return { where, values };
}

/** Filters whose count a process remembers. */
const KNOWN_COUNTS = 1000;

interface Counted {
  count: number;
  /** The newest build that was counted. */
  number: number;
  id: string;
  /** How often builds of the project had expired. */
  gone: number;
}

/**
 * Counts builds. Every page with a list asks for their number, and a database takes 30 ms to count 300,000. So a process remembers a count, and
 * counts only the builds that came later. They have greater numbers: to create builds locks their project before it numbers them. While the newest
 * build that was counted is there under its id, no failover has taken the others.
 */
class BuildCounts {
  readonly #known = new LRUCache<string, Counted>({ max: KNOWN_COUNTS });

  constructor(readonly database: Database) {}

  async of(project: number, filter: BuildFilter): Promise<number> {
    const { commit_hash = null, branch = null, node_total = null } = filter;
    const key = digest(project, commit_hash, branch, node_total);
    const known = this.#known.get(key);
    let counted = await this.#count(project, filter, known);
    if (known && counted.is_known && counted.gone === known.gone) counted.count += known.count;
    else if (known) counted = await this.#count(project, filter);
    if (counted.count === 0) return 0;
    this.#known.set(key, { count: counted.count, number: counted.number!, id: counted.id!, gone: counted.gone });
    return counted.count;
  }

  /** Counts the builds after those that are known. */
  async #count(project: number, filter: BuildFilter, known?: Counted) {
    const { where, values } = whereOf(project, filter);
    const newest = newestOf(project, filter, MAX_INT4, values);
    const [number, id] = [values.push(known?.number ?? 0), values.push(known?.id ?? '')].map(at => `$${at}`);
    type Row = Pick<Counted, 'count' | 'gone'> & { is_known: boolean; number: number | null; id: string | null };
    const [row] = await this.database.read<Row>(
      `select coalesce((select builds_gone from projects where id = $1), 0) as gone, n.number, n.id,
        (select count(*) from builds where ${where} and number > ${number}) as count,
        exists (select from builds where number = ${number} and id = ${id}) as is_known
      from (select 1) as one left join lateral (select number, id ${newest} limit 1) n on true`,
      values,
    );
    return row!;
  }
}

export function postgresqlBuilds(database: Database, paths: Paths) {
  const counts = new BuildCounts(database);
  const byKey = new ReadTogether<BuildRow>(
    keys => database.read(lookUp(BUILD, 'builds', 'key', 'text'), [keys]),
    ({ key }) => key,
  );
  const timesOfRun = async (build: number, { node_index, run }: Pick<RunHead, 'node_index' | 'run'>) => {
    const [row] = await database.read<RunHead & { times: Buffer }>(
      `select ${HEAD}, times from runs where build = $1 and node_index = $2 and run = $3`,
      [build, node_index, run],
    );
    return row ?? null;
  };
  return {
    async get(project, id) {
      const [row] = await database.read<BuildRow>(`select ${BUILD} from builds where id = $2 and project = $1`, [project, id]);
      return row ? toBuild(row) : null;
    },
    async find(project, key) {
      const row = await byKey.get(buildDigest(project, key));
      return row && toBuild(row);
    },
    async list(project, filter, { before = null, offset = 0, limit }) {
      const values: unknown[] = [];
      const newest = newestOf(project, filter, Math.min(before ?? MAX_INT4, MAX_INT4), values);
      const part = `limit $${values.push(limit)} offset $${values.push(Math.min(offset, MAX_INT4))}`;
      return (await database.read<BuildRow>(`select ${BUILD} ${newest} ${part}`, values)).map(toBuild);
    },
    count: (project, filter) => counts.of(project, filter),
    async all(from, limit) {
      return (
        await database.read<BuildRow>(`select ${BUILD} from builds where number >= $1 order by number limit $2`, [
          Math.min(from, MAX_INT4),
          limit,
        ])
      ).map(toBuild);
    },
    runs: (build, node_index) =>
      node_index === undefined
        ? database.read<RunHead>(`select ${HEAD} from runs where build = $1 order by node_index, run`, [build])
        : database.read<RunHead>(`select ${HEAD} from runs where build = $1 and node_index = $2 order by run`, [build, node_index]),
    async run(build, key, from, to) {
      const row = await timesOfRun(build, key);
      if (!row) return null;
      const { times, ...head } = row;
      const { paths: numbers, seconds } = timesOf({ times }, from, to);
      return { ...head, paths: await paths.names(numbers), seconds };
    },
    async times(build, key) {
      const row = await timesOfRun(build, key);
      return row && timesOf(row);
    },
    path: async number => (await paths.names(Uint32Array.of(number)))[0]!,
    pathNumber: (project, path) => paths.numberOf(project, path),
    pieces: (project, file) => paths.piecesOf(project, file),
  } satisfies Builds;
}
