import { endOfDay } from '../../engine/days.js';
import { buildDigest } from '../../engine/keys.js';
import type { CiRun } from '../../engine/ports/ci-runs.js';
import type { DaySummary } from '../../engine/ports/summaries.js';
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

/** How a table is read from a folder, and how a row of it is put within a write transaction. */
interface Moved {
  rows(): Iterable<Row>;
  put(row: any): void;
}

const json = (value: unknown) => (value === undefined || value === null ? null : JSON.stringify(value));
const parsed = (text: string | null) => (text === null ? null : JSON.parse(text));

const NEXT = { builds: 'nextBuild', projects: 'nextProject' } as const;
const NAMES = Object.fromEntries(Object.entries(PARTS).map(([name, part]) => [part, name]));

/** The tables of a folder, of which a start has put all in the journal into them. */
export function folderSide(tables: Tables): Side {
  const moved = movedOf(tables);
  return {
    rows: table => moved[table].rows(),
    async put(table, rows) {
      await tables.root.transaction(() => rows.forEach(moved[table].put));
    },
  };
}

function movedOf(tables: Tables): Record<MovedTable, Moved> {
  const { meta, projects, projectNames, tokens, links, sessions, values, builds, buildNumbers, summaries, subsets, expiry } = tables;
  const { paths, pathNames, timings, splits, splitRuns, queues, queuesOfNodeBuild, queuesOfBuild, forecasts, blobs, batches } = tables;
  const { ciRuns, ciRunKeys, jobs, unrecorded, days, batchCosts, cases, deliveries } = tables;
  const projectOf = (plan: string) => ciRunKeys.get(plan)?.[0] ?? 0;
  return {
    ballast: {
      *rows() {
        const value = meta.get('lastOrdinal');
        if (value) yield { name: 'last_ordinal', value };
      },
      put: ({ value }) => void meta.put('lastOrdinal', value),
    },
    kept_values: {
      *rows() {
        for (const { key: name, value } of values.getRange()) yield { name, value: JSON.stringify(value) };
      },
      put: ({ name, value }) => void values.put(name, JSON.parse(value)),
    },
    projects: {
      *rows() {
        for (const { key: id, value } of projects.getRange())
          yield {
            ...{ id, ...value, deleted_at: value.deleted_at ?? null },
            ...{ default_branch: json(value.default_branch), settings: json(value.settings) },
          };
      },
      put({ id, deleted_at, default_branch, settings, ...project }) {
        const isDeleted = deleted_at !== null;
        void projects.put(id, {
          ...{ ...project, default_branch: parsed(default_branch), settings: parsed(settings) },
          ...(isDeleted && { deleted_at }),
        });
        if (!isDeleted) void projectNames.put(project.name, id);
      },
    },
    tokens: { rows: () => valuesOf(tokens), put: row => void tokens.put(keyOf(row.hash), row) },
    links: { rows: () => valuesOf(links), put: row => void links.put(keyOf(row.hash), row) },
    sessions: {
      *rows() {
        const password = values.get('password') as { hash: string } | undefined;
        for (const row of valuesOf(sessions)) yield { ...row, is_of_password: row.origin === password?.hash };
      },
      put: ({ is_of_password: _, ...row }) => void sessions.put(keyOf(row.hash), row),
    },
    builds: {
      *rows() {
        for (const { key: number, value } of builds.getRange()) {
          const { commit_hash: _commit, branch: _branch, ...build } = value;
          yield { number, ...build, ...keyColumns(build.project, value) };
        }
      },
      put({ number, key, commit_key: _commit, branch_key: _branch, names, ...rest }) {
        const build = { ...rest, ...fromNames(names) };
        void builds.put(number, build);
        for (const name of [key, build.id]) void buildNumbers.put(name, number);
        addToIndex(tables, build.project, build, number);
        void expiry.put([build.created_at, 'build', number], true);
      },
    },
    summaries: {
      *rows() {
        for (const { key: build, value } of summaries.getRange()) yield { build, summary: JSON.stringify(value) };
      },
      put: ({ build, summary }) => void summaries.put(build, JSON.parse(summary)),
    },
    runs: {
      *rows() {
        for (const {
          key: [build, node_index, run],
          value,
        } of subsets.getRange())
          yield { build, node_index, run, ...value, test_files: fileCount(value) };
      },
      put: ({ build, node_index, run, test_files: _, ...record }) => void subsets.put([build, node_index, run], record),
    },
    paths: {
      *rows() {
        for (const { key: number, value: name } of pathNames.getRange()) {
          const bytes = timings.get(number);
          if (!bytes) continue;
          const { project, seen_at, timings: known } = decodeTimings(bytes);
          const key = Buffer.from(pathKey(project, JSON.parse(name) as string));
          // The bytes are valid until the next read.
          yield { number, project, key, name, seen_at, timings: known.length === 0 ? null : Buffer.from(bytes.subarray(0, bytes.length)) };
        }
      },
      put({ number, project, key, name, seen_at, timings: bytes }) {
        void paths.put(key.toString(), number);
        void pathNames.put(number, name);
        void timings.put(number, bytes ?? encodeTimings({ project, seen_at, timings: [] }));
      },
    },
    splits: {
      *rows() {
        for (const {
          key,
          value: { list, other_list, ...split },
        } of splits.getRange())
          yield {
            key,
            ...split,
            project: projectOf(split.id),
            list: json(list),
            other_list: json(other_list),
            forecast: json(forecasts.get(split.id)),
          };
      },
      put({ key, project: _, list, other_list, forecast, ...split }) {
        void splits.put(key, { ...split, list: JSON.parse(list), ...otherList(other_list) });
        void forecasts.put(split.id, JSON.parse(forecast));
        void expiry.put([split.used_at, 'split', key, split.id], true);
      },
    },
    split_uses: {
      *rows() {
        for (const {
          key: [split, ci_run],
          value,
        } of splitRuns.getRange())
          yield { split, ci_run, ...value, other_list: json(value.other_list) };
      },
      put: ({ split, ci_run, other_list, ...use }) => void splitRuns.put([split, ci_run], { ...use, ...otherList(other_list) }),
    },
    queues: {
      *rows() {
        const isNewest = (row: Row) => Number(queuesOfBuild.get(row.build as string) === row.id);
        const rows = [...queuesOfNodeBuild.getRange()].flatMap(({ key, value: id }) => {
          const record = queues.get(id);
          return record ? [{ id, key, ...toQueueRow(record), project: projectOf(id), forecast: json(forecasts.get(id)) }] : [];
        });
        // The newest queue of a build is the last one.
        const beganAt = ({ copied_at, created_at }: Row) => (copied_at ?? created_at) as number;
        yield* rows.sort((a, b) => isNewest(a) - isNewest(b) || beganAt(a) - beganAt(b));
      },
      put({ id, key, project: _p, number: _n, copied_at, copied_runs_before, list, other_list, learned, forecast, ...queue }) {
        const copied = copied_at === null ? null : { at: copied_at, runs_before: copied_runs_before };
        void queues.put(id, { ...queue, copied, list: JSON.parse(list), learned: parsed(learned), ...otherList(other_list) });
        void queuesOfNodeBuild.put(key, id);
        void queuesOfBuild.put(queue.build, id);
        void forecasts.put(id, JSON.parse(forecast));
        void expiry.put([queue.used_at, 'queue', id, key], true);
      },
    },
    pieces: {
      *rows() {
        for (const {
          key: [owner, part],
          value: bytes,
        } of blobs.getRange())
          yield { owner, part: typeof part === 'number' ? part : PARTS[part], bytes };
      },
      put: ({ owner, part, bytes }) => void blobs.put([owner, NAMES[part] ?? part], bytes),
    },
    journal: {
      *rows() {
        for (const queue of queues.getKeys()) {
          const groups = [...batches.getRange(entriesOf(queue))];
          if (groups[0]?.key[1] !== 0) groups.unshift({ key: [queue, 0], value: [] });
          for (const [position, { value }] of groups.entries()) yield { queue, position, attempt: 0, changes: encodeChanges(value) };
        }
      },
      put({ queue, position, changes }) {
        const group = decodeChanges(changes).map(encodeChange);
        if (group.length > 0 || position > 0) void batches.put([queue, position], group);
        // The next record of the journal comes after all of them.
        if (position > (meta.get('checkpoint') ?? 0)) void meta.put('checkpoint', position);
      },
    },
    ci_runs: {
      *rows() {
        for (const { key, value } of ciRuns.getRange()) {
          const { commit_hash: _commit, branch: _branch, ...run } = value;
          const names = { build: buildDigest(run.project, value), names: toNames(value) };
          const columns = { ...names, ci_run: json(run.ci_run), links: json(run.links) };
          yield { ...run, ...columns, summary: json(unrecorded.get(key)) };
        }
      },
      put({ build: _, names, ci_run, links: sent, summary, ...rest }) {
        const run = {
          ...rest,
          ...fromNames(names),
          ci_run: JSON.parse(ci_run),
          ...(sent !== null && { links: JSON.parse(sent) }),
        } as CiRun;
        putCiRun(tables, run);
        if (summary !== null) void unrecorded.put([run.project, run.created_at, run.id], JSON.parse(summary));
      },
    },
    jobs: {
      *rows() {
        for (const {
          key: [ci_run, node_index],
          value: url,
        } of jobs.getRange())
          yield { ci_run, node_index, url };
      },
      put: ({ ci_run, node_index, url }) => void jobs.put([ci_run, node_index], url),
    },
    days: {
      *rows() {
        for (const {
          key: [project, branch, day],
          value,
        } of days.getRange())
          yield { project, branch, day, builds: value.sums.builds, summary: JSON.stringify(value) };
      },
      put({ project, branch, day, summary }) {
        void days.put([project, branch, day], JSON.parse(summary) as DaySummary);
        void expiry.put([endOfDay(day), 'day', project, branch, day], true);
      },
    },
    batch_costs: {
      *rows() {
        for (const {
          key: [project, mode],
          value,
        } of batchCosts.getRange())
          yield { project, mode, sums: JSON.stringify(value) };
      },
      put: ({ project, mode, sums }) => void batchCosts.put([project, mode], JSON.parse(sums)),
    },
    cases: {
      *rows() {
        for (const {
          key: [project, file, piece],
          value: { at, report },
        } of cases.getRange())
          yield { project, file, piece, at, report: report.toString() };
      },
      put({ project, file, piece, at, report }) {
        void cases.put([project, file, piece], { at, report: Buffer.from(report as string) });
        void expiry.put([at, 'cases', project, file, piece], true);
      },
    },
    deliveries: {
      *rows() {
        for (const {
          key: [, project, key],
          value: { event, ...delivery },
        } of deliveries.getRange())
          yield { project, key, ...delivery, event: json(event) };
      },
      put: ({ project, key, event, ...delivery }) =>
        void deliveries.put([event === null ? 'ended' : 'waiting', project, key], { ...delivery, event: parsed(event) }),
    },
    identities: {
      *rows() {
        for (const [name, key] of Object.entries(NEXT)) if (meta.get(key)) yield { name, value: meta.get(key)! - 1 };
      },
      put: ({ name, value }: { name: keyof typeof NEXT; value: number }) => void meta.put(NEXT[name], value + 1),
    },
  };
}

function* valuesOf<V extends object>(table: { getRange(): Iterable<{ value: V }> }): Generator<Row> {
  for (const { value } of table.getRange()) yield { ...value } as unknown as Row;
}

function toQueueRow({ copied, list, other_list, learned, ...queue }: QueueRecord): Row {
  const columns = { copied_at: copied?.at ?? null, copied_runs_before: copied?.runs_before ?? null };
  return { ...queue, ...columns, list: json(list), other_list: json(other_list), learned: json(learned) } as Row;
}
