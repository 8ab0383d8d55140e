import { LRUCache } from 'lru-cache';
import { type BuildFilter, type BuildKey, buildDigest, digest } from '../../engine/keys.js';
import type { Build, Builds, RunHead } from '../../engine/ports/builds.js';
import { timesOf } from '../codecs/run-times.js';
import type { Database } from './connection/database.js';
import { lookUp } from './connection/look-up.js';
import { ReadTogether } from './connection/read-together.js';
import { fromNames, toNames } from './json.js';
import type { Paths } from './paths.js';

export const BUILD = 'key, number, id, project, names, node_total, created_at, updated_at, recorded, subsets, test_files';
const HEAD = 'node_index, run, id, created_at, ordinal, ci_run, asked_at, has_no_test, test_files';

/** A client may ask for any page, and for what is before any build. */
const MAX_INT4 = 2 ** 31 - 1;

export interface BuildRow extends Omit<Build, keyof BuildKey> {
  key: string;
  node_total: number;
  /** The commit hash and the branch, as JSON. */
  names: string;
}

export function toBuild({ key: _, names, ...row }: BuildRow): Build {
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
 * Conditions for the builds that a filter finds, with their values from $1 on: `equal` to find them all, and `newest` to read those before a number,
 * newest first, in the order of all columns of an index. In the order of the numbers alone, the database may read the builds of all projects until
 * enough are of this one.
 */
function foundBy(project: number, { commit_hash, branch, node_total }: BuildFilter, before: number) {
  const values: unknown[] = [];
  const place = (type: string, value: unknown) => `$${values.push(value)}::${type}`;
  const columns = [['project', place('int4', project)]];
  if (commit_hash !== undefined) columns.push(['commit_key', place('text', digest(commit_hash))]);
  if (branch !== undefined) columns.push(['branch_key', place('text', digest(branch))]);
  if (node_total !== undefined) columns.push(['node_total', place('int4', node_total)]);
  const isEqual = (each: typeof columns) => each.map(([name, value]) => `${name} = ${value}`);
  const equal = isEqual(columns).join(' and ');
  // The index of commits has no other column.
  const others = commit_hash === undefined ? [] : columns.splice(2);
  const names = [...columns.map(([name]) => name), 'number'];
  const beside = (number: string) => `(${[...columns.map(([, value]) => value), number].join(', ')})`;
  const range = [`(${names.join(', ')}) > ${beside('0')}`, `(${names.join(', ')}) < ${beside(place('int4', before))}`];
  const newest = `${[...range, ...isEqual(others)].join(' and ')} order by ${names.map(name => `${name} desc`).join(', ')}`;
  return { equal, newest, values };
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

const NOTHING: Counted = { count: 0, number: 0, id: '', gone: 0 };

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
    const counted = (known && (await this.#goOn(project, filter, known))) ?? (await this.#goOn(project, filter, NOTHING))!;
    if (counted.count > 0) this.#known.set(key, counted);
    return counted.count;
  }

  /** Adds the builds that came after those of a count; null: some of those are gone. */
  async #goOn(project: number, filter: BuildFilter, from: Counted): Promise<Counted | null> {
    const { equal, newest, values } = foundBy(project, filter, MAX_INT4);
    const [number, id] = [values.push(from.number), values.push(from.id)];
    const [row] = await this.database.read<
      Omit<Counted, 'number' | 'id'> & { number: number | null; id: string | null; is_there: boolean }
    >(
      `select coalesce((select builds_gone from projects where id = $1), 0) as gone, n.number, n.id,
        (select count(*) from builds where ${equal} and number > $${number}) as count,
        exists (select from builds where number = $${number} and id = $${id}) as is_there
      from (select 1) as one left join lateral (select number, id from builds where ${newest} limit 1) n on true`,
      values,
    );
    const { count, gone, is_there, ...last } = row!;
    if (from !== NOTHING && !(is_there && gone === from.gone)) return null;
    return { count: from.count + count, number: last.number ?? 0, id: last.id ?? '', gone };
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
      const { newest, values } = foundBy(project, filter, Math.min(before ?? MAX_INT4, MAX_INT4));
      const part = `limit $${values.push(limit)} offset $${values.push(Math.min(offset, MAX_INT4))}`;
      return (await database.read<BuildRow>(`select ${BUILD} from builds where ${newest} ${part}`, values)).map(toBuild);
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
      const { paths: numbers, seconds, outcomes } = timesOf({ times }, from, to);
      return { ...head, paths: await paths.names(numbers), seconds, outcomes };
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
