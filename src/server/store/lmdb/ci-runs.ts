import { CI_RUNS_PER_BUILD, SPARED_PER_CI_RUN } from '../../engine/ci-run.js';
import { CI_RUNS_OF_TREE } from '../../engine/completeness/checkouts.js';
import { countSpared, dayAt } from '../../engine/days/days.js';
import { type BuildKey, buildDigest, sparedKey } from '../../engine/keys.js';
import { joinCheckouts, joinCommands } from '../../engine/node-notes.js';
import type { CiRun, CiRuns, NodeNote } from '../../engine/ports/ci-runs.js';
import { changeDay } from './summaries.js';
import type { Tables } from './tables.js';
import { entriesOf } from './writes/blobs.js';
import { type Committing, commit } from './writes/commit.js';

export type CiRunTables = Pick<Tables, 'ciRuns' | 'ciRunKeys' | 'ciRunsOfBuild' | 'ciRunsOfTree' | 'unrecorded' | 'expiry'>;

export function lmdbCiRuns(parts: CiRunTables & Pick<Tables, 'nodes' | 'spared' | 'days'> & Committing) {
  const { ciRuns, ciRunKeys, ciRunsOfBuild, ciRunsOfTree, nodes, spared } = parts;
  /** The records that a node changes by what it told; null: it changes none. */
  const toPut = ({ id, node_index, links, checkout, command }: NodeNote) => {
    const key = ciRunKeys.get(id);
    const run = key && ciRuns.get([...key, id]);
    if (!run) return null;
    const before = nodes.get([id, node_index]);
    const node = {
      job_url: links?.job_url ?? before?.job_url ?? null,
      checkout: before ? joinCheckouts(before.checkout, checkout) : checkout,
      command: before ? joinCommands(before.command, command) : command,
    };
    const isNoted = before !== undefined && JSON.stringify(before) === JSON.stringify(node);
    const { commit_url, diff_url } = links ?? {};
    const tree = run.tree ?? checkout?.tree;
    const noted: CiRun = {
      ...run,
      ...(!run.links && (commit_url ?? diff_url) && { links: { commit_url: commit_url ?? null, diff_url: diff_url ?? null } }),
      ...(tree && { tree }),
    };
    const isRunNoted = noted.links === run.links && noted.tree === run.tree;
    return isNoted && isRunNoted ? null : { node: isNoted ? null : node, run: isRunNoted ? null : noted };
  };
  const newestOfTree = (project: number, tree: string, limit: number) => {
    const range = { start: [project, tree, Infinity] as never, end: [project, tree, -Infinity] as never, reverse: true, limit };
    return [...ciRunsOfTree.getKeys(range)];
  };
  return {
    get(project, id) {
      const key = ciRunKeys.get(id);
      return key?.[0] === project ? (ciRuns.get([...key, id]) ?? null) : null;
    },
    list(project, before, limit) {
      const range = { start: [project, before] as never, end: [project, -Infinity] as never, reverse: true, limit };
      return Array.from(ciRuns.getRange(range), ({ value }) => value);
    },
    ofBuild(project: number, build: BuildKey) {
      const range = { ...newestFirst(buildDigest(project, build)), limit: CI_RUNS_PER_BUILD };
      return [...ciRunsOfBuild.getKeys(range)].flatMap(([, created_at, id]) => ciRuns.get([project, created_at, id]) ?? []);
    },
    newest: (project, builds) =>
      builds.map(build => {
        const [key] = ciRunsOfBuild.getKeys({ ...newestFirst(buildDigest(project, build)), limit: 1 });
        return key ? (ciRuns.get([project, key[1], key[2]]) ?? null) : null;
      }),
    ofTree: (project, tree, limit) =>
      newestOfTree(project, tree, limit).flatMap(([, , created_at, id]) => ciRuns.get([project, created_at, id]) ?? []),
    async noteNodes(told) {
      const due = told.filter(toPut);
      if (due.length === 0) return;
      await commit(parts, () => {
        for (const note of due) {
          const put = toPut(note);
          if (put?.node) void nodes.put([note.id, note.node_index], put.node);
          if (!put?.run) continue;
          const { project, created_at, id } = put.run;
          void ciRuns.put([project, created_at, id], put.run);
          if (put.run.tree !== undefined) void ciRunsOfTree.put([project, put.run.tree, created_at, id], true);
        }
      });
    },
    nodes: id => Array.from(nodes.getRange(entriesOf(id)), ({ key: [, node_index], value }) => ({ node_index, ...value })),
    noteSpared: ({ project, id, tree = '' }, run) =>
      commit(parts, () => {
        const key = sparedKey(run);
        if (!ciRunKeys.doesExist(id) || spared.getKeysCount(entriesOf(id)) >= SPARED_PER_CI_RUN) return false;
        const ofTree = newestOfTree(project, tree, CI_RUNS_OF_TREE).map(([, , , other]) => other);
        if ([id, ...ofTree].some(by => spared.doesExist([by, key]))) return false;
        void spared.put([id, key], run);
        changeDay(parts, { project, branch: run.branch }, dayAt(run.asked_at), true, day => countSpared(day, run));
        return true;
      }),
    spared: id => Array.from(spared.getRange(entriesOf(id)), ({ value }) => value),
  } satisfies CiRuns;
}

/** The range of the CI runs of a build in `ciRunsOfBuild`. */
const newestFirst = (build: string) => ({ start: [build, Infinity] as never, end: [build, -Infinity] as never, reverse: true });

/** Notes a CI run that begins, together with the other puts of this turn. */
export function putCiRun({ ciRuns, ciRunKeys, ciRunsOfBuild, ciRunsOfTree, expiry }: CiRunTables, run: CiRun): void {
  const { id, project, created_at, tree } = run;
  void ciRuns.put([project, created_at, id], run);
  void ciRunKeys.put(id, [project, created_at]);
  void ciRunsOfBuild.put([buildDigest(project, run), created_at, id], project);
  if (tree !== undefined) void ciRunsOfTree.put([project, tree, created_at, id], true);
  void expiry.put([created_at, 'ci_run', id], true);
}

/** Deletes a CI run with its summary and its entries in the indexes, within a write transaction. */
export function deleteCiRun(tables: Omit<CiRunTables, 'expiry'>, id: string): void {
  const { ciRuns, ciRunKeys, ciRunsOfBuild, ciRunsOfTree, unrecorded } = tables;
  const key = ciRunKeys.get(id);
  if (!key) return;
  const [project, created_at] = key;
  const record = ciRuns.get([...key, id]);
  if (record) void ciRunsOfBuild.remove([buildDigest(project, record), created_at, id]);
  if (record?.tree !== undefined) void ciRunsOfTree.remove([project, record.tree, created_at, id]);
  void ciRuns.remove([...key, id]);
  void unrecorded.remove([...key, id]);
  void ciRunKeys.remove(id);
}
