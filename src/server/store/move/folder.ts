import { countedOn, endOfDay } from '../../engine/days/days.js';
import { buildDigest } from '../../engine/keys.js';
import { pathKey } from '../codecs/path-keys.js';
import { decodeChanges, encodeChange, encodeChanges } from '../codecs/queue-changes.js';
import { fileCount } from '../codecs/run-times.js';
import { decodeTimings, encodeTimings } from '../codecs/timing-codec.js';
import { keyOf } from '../lmdb/access.js';
import { addToIndex } from '../lmdb/build-index.js';
import { putCiRun } from '../lmdb/ci-runs.js';
import type { QueueRecord } from '../lmdb/records.js';
import type { Tables } from '../lmdb/tables.js';
import { entriesOf } from '../lmdb/writes/blobs.js';
import { keyColumns } from '../postgresql/builds.js';
import { fromNames, otherList, toNames } from '../postgresql/json.js';
import { PARTS } from '../postgresql/plans/pieces.js';
import type { MovedTable, Row, Side } from './move.js';

/** A kind of record: its rows in a folder, and how a row is put within a write transaction. */
interface Kind {
  rows(tables: Tables): Iterable<Row>;
  put(row: any, tables: Tables): void;
}

const json = (value: unknown) => (value === undefined || value === null ? null : JSON.stringify(value));
const parsed = (text: string | null) => (text === null ? null : JSON.parse(text));

const NEXT = { builds: 'nextBuild', projects: 'nextProject' } as const;
const NAMES = Object.fromEntries(Object.entries(PARTS).map(([name, part]) => [part, name]));

/** The tables of a folder, of which a start has put all in the journal into them. */
export function folderSide(tables: Tables): Side {
  return {
    rows: table => kinds[table].rows(tables),
    async put(table, rows) {
      await tables.root.transaction(() => {
        for (const row of rows) kinds[table].put(row, tables);
      });
    },
  };
}

/** A table whose records have their key. */
const byHash = (name: 'tokens' | 'links'): Kind => ({
  rows: tables => rowsOf(tables[name] as Tables['tokens'], (_, record) => ({ ...record })),
  put: (row, tables) => void (tables[name] as Tables['tokens']).put(keyOf(row.hash), row),
});

/** In the order of MOVED. No put reads what another kind has put; only the last queue that is put for a build counts as its newest. */
const kinds: Record<MovedTable, Kind> = {
  ballast: {
    *rows({ meta }) {
      const value = meta.get('lastOrdinal');
      if (value) yield { name: 'last_ordinal', value };
    },
    put: ({ value }, { meta }) => void meta.put('lastOrdinal', value),
  },
  kept_values: {
    rows: ({ values }) => rowsOf(values, (name, value) => ({ name, value: JSON.stringify(value) })),
    put: ({ name, value }, { values }) => void values.put(name, JSON.parse(value)),
  },
  projects: {
    rows: ({ projects }) =>
      rowsOf(projects, (id, project) => ({
        ...{ id, ...project, deleted_at: project.deleted_at ?? null },
        ...{ default_branch: json(project.default_branch), settings: json(project.settings) },
      })),
    put({ id, deleted_at, default_branch, settings, ...project }, { projects, projectNames }) {
      const isDeleted = deleted_at !== null;
      void projects.put(id, {
        ...{ ...project, default_branch: parsed(default_branch), settings: parsed(settings) },
        ...(isDeleted && { deleted_at }),
      });
      if (!isDeleted) void projectNames.put(project.name, id);
    },
  },
  tokens: byHash('tokens'),
  links: byHash('links'),
  sessions: {
    rows({ sessions, values }) {
      const password = values.get('password') as { hash: string } | undefined;
      return rowsOf(sessions, (_, session) => ({ ...session, is_of_password: session.origin === password?.hash }));
    },
    put: ({ is_of_password: _, ...row }, { sessions }) => void sessions.put(keyOf(row.hash), row),
  },
  builds: {
    rows: ({ builds }) =>
      rowsOf(builds, (number, value) => {
        const { commit_hash: _commit, branch: _branch, ...build } = value;
        return { number, ...build, ...keyColumns(build.project, value) };
      }),
    put({ number, key, commit_key: _commit, branch_key: _branch, names, ...rest }, tables) {
      const build = { ...rest, ...fromNames(names) };
      void tables.builds.put(number, build);
      for (const name of [key, build.id]) void tables.buildNumbers.put(name, number);
      addToIndex(tables, build.project, build, number);
      void tables.expiry.put([build.created_at, 'build', number], true);
    },
  },
  summaries: {
    rows: ({ summaries }) => rowsOf(summaries, (build, summary) => ({ build, summary: JSON.stringify(summary) })),
    put: ({ build, summary }, { summaries }) => void summaries.put(build, JSON.parse(summary)),
  },
  failures: {
    rows: ({ failures }) => rowsOf(failures, ([project, build], record) => ({ build, project, record })),
    put: ({ build, project, record }, { failures }) => void failures.put([project, build], record),
  },
  runs: {
    rows: ({ subsets }) =>
      rowsOf(subsets, ([build, node_index, run], record) => ({ build, node_index, run, ...record, test_files: fileCount(record) })),
    put: ({ build, node_index, run, test_files: _, ...record }, { subsets }) => void subsets.put([build, node_index, run], record),
  },
  paths: {
    *rows({ pathNames, timings }) {
      for (const { key: number, value: name } of pathNames.getRange()) {
        const bytes = timings.get(number);
        if (!bytes) continue;
        const { project, seen_at, timings: known } = decodeTimings(bytes);
        const key = Buffer.from(pathKey(project, JSON.parse(name) as string));
        // The bytes are valid until the next read.
        yield { number, project, key, name, seen_at, timings: known.length === 0 ? null : Buffer.from(bytes.subarray(0, bytes.length)) };
      }
    },
    put({ number, project, key, name, seen_at, timings: bytes }, { paths, pathNames, timings }) {
      void paths.put(key.toString(), number);
      void pathNames.put(number, name);
      void timings.put(number, bytes ?? encodeTimings({ project, seen_at, timings: [] }));
    },
  },
  splits: {
    rows: tables =>
      rowsOf(tables.splits, (key, { list, other_list, ...split }) => ({
        ...{ key, ...split, list: json(list), other_list: json(other_list), ...ofPlan(split.id, tables) },
      })),
    put({ key, project: _, list, other_list, forecast, ...split }, { splits, forecasts, expiry }) {
      void splits.put(key, { ...split, list: JSON.parse(list), ...otherList(other_list) });
      void forecasts.put(split.id, JSON.parse(forecast));
      void expiry.put([split.used_at, 'split', key, split.id], true);
    },
  },
  split_uses: {
    rows: ({ splitRuns }) => rowsOf(splitRuns, ([split, ci_run], use) => ({ split, ci_run, ...use, other_list: json(use.other_list) })),
    put: ({ split, ci_run, other_list, ...use }, { splitRuns }) =>
      void splitRuns.put([split, ci_run], { ...use, ...otherList(other_list) }),
  },
  queues: {
    rows(tables) {
      const isNewest = (row: Row) => Number(tables.queuesOfBuild.get(row.build as string) === row.id);
      const rows = [...tables.queuesOfNodeBuild.getRange()].flatMap(({ key, value: id }) => {
        const queue = tables.queues.get(id);
        return queue ? [{ id, key, ...toQueueRow(queue), ...ofPlan(id, tables) }] : [];
      });
      // The newest queue of a build is the last one.
      const beganAt = ({ copied_at, created_at }: Row) => (copied_at ?? created_at) as number;
      return rows.sort((a, b) => isNewest(a) - isNewest(b) || beganAt(a) - beganAt(b));
    },
    put({ id, key, project: _p, number: _n, copied_at, copied_runs_before, list, other_list, learned, forecast, ...queue }, tables) {
      const copied = copied_at === null ? null : { at: copied_at, runs_before: copied_runs_before };
      void tables.queues.put(id, { ...queue, copied, list: JSON.parse(list), learned: parsed(learned), ...otherList(other_list) });
      void tables.queuesOfNodeBuild.put(key, id);
      void tables.queuesOfBuild.put(queue.build, id);
      void tables.forecasts.put(id, JSON.parse(forecast));
      void tables.expiry.put([queue.used_at, 'queue', id, key], true);
    },
  },
  pieces: {
    rows: ({ blobs }) => rowsOf(blobs, ([owner, part], bytes) => ({ owner, part: typeof part === 'number' ? part : PARTS[part], bytes })),
    put: ({ owner, part, bytes }, { blobs }) => void blobs.put([owner, NAMES[part] ?? part], bytes),
  },
  journal: {
    *rows({ queues, batches }) {
      for (const queue of queues.getKeys()) {
        const groups = [...batches.getRange(entriesOf(queue))];
        if (groups[0]?.key[1] !== 0) groups.unshift({ key: [queue, 0], value: [] });
        for (const [position, { value }] of groups.entries()) yield { queue, position, attempt: 0, changes: encodeChanges(value) };
      }
    },
    put({ queue, position, changes }, { batches, meta }) {
      const group = decodeChanges(changes).map(encodeChange);
      if (group.length > 0 || position > 0) void batches.put([queue, position], group);
      // The next record of the journal comes after all of them.
      if (position > (meta.get('checkpoint') ?? 0)) void meta.put('checkpoint', position);
    },
  },
  ci_runs: {
    rows: ({ ciRuns, unrecorded }) =>
      rowsOf(ciRuns, (key, value) => {
        const { commit_hash: _commit, branch: _branch, ...run } = value;
        const names = { build: buildDigest(run.project, value), names: toNames(value) };
        const told = { links: json(run.links), tree: run.tree ?? null };
        return { ...run, ...names, ci_run: json(run.ci_run), ...told, summary: json(unrecorded.get(key)) };
      }),
    put({ build: _, names, ci_run, links, tree, summary, ...rest }, tables) {
      const told = { ...(links !== null && { links: JSON.parse(links) }), ...(tree !== null && { tree }) };
      const run = { ...rest, ...fromNames(names), ci_run: JSON.parse(ci_run), ...told };
      putCiRun(tables, run);
      if (summary !== null) void tables.unrecorded.put([run.project, run.created_at, run.id], JSON.parse(summary));
    },
  },
  nodes: {
    rows: ({ nodes }) =>
      rowsOf(nodes, ([ci_run, node_index], { job_url, checkout, command }) => ({
        ci_run,
        node_index,
        job_url,
        checkout: json(checkout),
        command,
      })),
    put: ({ ci_run, node_index, job_url, checkout, command }, { nodes }) =>
      void nodes.put([ci_run, node_index], { job_url, checkout: checkout === null ? null : JSON.parse(checkout), command }),
  },
  spared: {
    rows: ({ spared }) => rowsOf(spared, ([ci_run, key], record) => ({ ci_run, key, record: JSON.stringify(record) })),
    put: ({ ci_run, key, record }, { spared }) => void spared.put([ci_run, key], JSON.parse(record)),
  },
  days: {
    rows: ({ days }) =>
      rowsOf(days, ([project, branch, day], value) => ({
        ...{ project, branch, day, counted: countedOn(value), summary: JSON.stringify(value) },
      })),
    put({ project, branch, day, summary }, { days, expiry }) {
      void days.put([project, branch, day], JSON.parse(summary));
      void expiry.put([endOfDay(day), 'day', project, branch, day], true);
    },
  },
  batch_costs: {
    rows: ({ batchCosts }) => rowsOf(batchCosts, ([project, mode], sums) => ({ project, mode, sums: JSON.stringify(sums) })),
    put: ({ project, mode, sums }, { batchCosts }) => void batchCosts.put([project, mode], JSON.parse(sums)),
  },
  cases: {
    rows: ({ cases }) =>
      rowsOf(cases, ([project, file, piece], { at, report }) => ({ project, file, piece, at, report: report.toString() })),
    put({ project, file, piece, at, report }, { cases, expiry }) {
      void cases.put([project, file, piece], { at, report: Buffer.from(report as string) });
      void expiry.put([at, 'cases', project, file, piece], true);
    },
  },
  deliveries: {
    rows: ({ deliveries }) =>
      rowsOf(deliveries, ([, project, key], { event, ...delivery }) => ({ project, key, ...delivery, event: json(event) })),
    put: ({ project, key, event, ...delivery }, { deliveries }) =>
      void deliveries.put([event === null ? 'ended' : 'waiting', project, key], { ...delivery, event: parsed(event) }),
  },
  identities: {
    *rows({ meta }) {
      for (const [name, key] of Object.entries(NEXT)) if (meta.get(key)) yield { name, value: meta.get(key)! - 1 };
    },
    put: ({ name, value }: { name: keyof typeof NEXT; value: number }, { meta }) => void meta.put(NEXT[name], value + 1),
  },
};

function* rowsOf<V, K>(table: { getRange(): Iterable<{ key: K; value: V }> }, toRow: (key: K, record: V) => Row): Generator<Row> {
  for (const { key, value } of table.getRange()) yield toRow(key, value);
}

/** The columns of a split or queue that other tables have. */
function ofPlan(id: string, { ciRunKeys, forecasts }: Tables): { project: number; forecast: string | null } {
  return { project: ciRunKeys.get(id)?.[0] ?? 0, forecast: json(forecasts.get(id)) };
}

function toQueueRow({ copied, list, other_list, learned, ...queue }: QueueRecord): Row {
  const columns = { copied_at: copied?.at ?? null, copied_runs_before: copied?.runs_before ?? null };
  return { ...queue, ...columns, list: json(list), other_list: json(other_list), learned: json(learned) } as Row;
}
