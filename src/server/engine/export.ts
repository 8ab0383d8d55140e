import { timestamp } from '../../base/time.js';
import { EXPORT_VERSION, type ExportHead } from '../../protocol/export-version.js';
import { timingOn } from '../planning/estimating/branch-timings.js';
import { estimateOf } from '../planning/estimating/timing.js';
import { newestBuild } from './builds.js';
import { shortDigest } from './keys.js';
import type { Project } from './ports/access.js';
import type { Build, Run } from './ports/builds.js';
import type { Millis, Store } from './ports/store.js';
import type { RecordedPath } from './ports/timings.js';
import { outcomeOf } from './test-file.js';

/** Records that an export reads at a time. */
const EXPORTED_RECORDS_PER_STEP = 200;

export interface ExportChoice {
  projects: readonly Project[];
  builds: boolean;
  timings: boolean;
}

type ExportStore = Pick<Store, 'builds' | 'timings' | 'maintenance'>;

/**
 * The recorded data of projects, as lines of JSON, in pieces: a head, the projects, the builds in the order of their first runs,
 * and the expected time of each path on the default branch. Builds created during the export are left out. Between pieces it
 * holds no snapshot of the store, so that a busy server can reuse freed pages.
 *
 * @param at the time that the head names
 * @param exported called after each whole line
 */
export async function* exportLines(
  store: ExportStore,
  { projects, builds, timings }: ExportChoice,
  at: Millis,
  exported: (type: 'build' | 'timing') => void,
): AsyncGenerator<string> {
  const byId = new Map(projects.map(project => [project.id, project]));
  const head: ExportHead = { type: 'export', v: EXPORT_VERSION, exported_at: timestamp(at), projects: projects.map(({ name }) => name) };
  yield line(head);
  for (const { name, created_at, default_branch } of projects)
    yield line({ type: 'project', name, created_at: timestamp(created_at), default_branch });
  if (builds) yield* buildLines(store, byId, () => exported('build'));
  if (timings) yield* timingLines(store, byId, () => exported('timing'));
}

async function* buildLines(store: ExportStore, projects: ReadonlyMap<number, Project>, exported: () => void): AsyncGenerator<string> {
  // By number, because a clock can be set back.
  let last = 0;
  for (const id of projects.keys()) last = Math.max(last, (await newestBuild(store.builds, id, {}))?.number ?? 0);
  for await (const page of pages<Build>(store, from => store.builds.all(from, EXPORTED_RECORDS_PER_STEP))) {
    for (const build of page) {
      const project = projects.get(build.project);
      if (build.number > last) return;
      if (!project) continue;
      let text = headOfBuild(build, project);
      let separator = '';
      for (const head of await store.builds.runs(build.number)) {
        const run = await store.builds.run(build.number, head);
        // It expired meanwhile.
        if (run === null) continue;
        await release(store);
        yield text + separator + jsonOfRun(run);
        text = '';
        separator = ',';
      }
      yield `${text}]}\n`;
      exported();
    }
  }
}

/** The JSON of a build up to its first run. */
function headOfBuild({ id, commit_hash, branch, node_total, created_at, updated_at }: Build, project: Project): string {
  const times = { created_at: timestamp(created_at), updated_at: timestamp(updated_at) };
  const head = { type: 'build', project: project.name, id, commit_hash, branch, node_total, ...times };
  return `${JSON.stringify(head).slice(0, -1)},"build_subsets":[`;
}

function jsonOfRun({ id, node_index, created_at, paths, seconds, outcomes }: Run): string {
  const test_files = paths.map((path, i) => ({ path, time_execution: seconds[i]!, outcome: outcomeOf(outcomes[i]!) ?? undefined }));
  return JSON.stringify({ id, node_index, created_at: timestamp(created_at), test_files });
}

async function* timingLines(store: ExportStore, projects: ReadonlyMap<number, Project>, exported: () => void): AsyncGenerator<string> {
  const branches = new Map(
    [...projects].map(([id, { default_branch }]) => [id, default_branch === null ? 0 : shortDigest(default_branch)]),
  );
  for await (const page of pages<RecordedPath>(store, from => store.timings.all(from, EXPORTED_RECORDS_PER_STEP))) {
    let text = '';
    for (const { project: id, path, seen_at, timings } of page) {
      const project = projects.get(id);
      if (!project) continue;
      const timing = timingOn(timings, branches.get(id)!, null);
      const [time_execution, measured_at] = timing ? [estimateOf(timing), timestamp(timing.at)] : [null, null];
      text += line({ type: 'timing', project: project.name, path, time_execution, measured_at, seen_at: timestamp(seen_at) });
      exported();
    }
    if (text !== '') yield text;
  }
}

/** All numbered records, read in pages. */
async function* pages<T extends { number: number }>(
  store: ExportStore,
  list: (from: number) => T[] | Promise<T[]>,
): AsyncGenerator<readonly T[]> {
  for (let from = 0; ; ) {
    const page = await list(from);
    await release(store);
    if (page.length === 0) return;
    yield page;
    from = page.at(-1)!.number + 1;
  }
}

/** Releases the snapshot, because the reader of the lines may be slow. The next read sees the newest state. */
async function release({ maintenance }: ExportStore): Promise<void> {
  maintenance.refresh();
  await new Promise(resolve => setImmediate(resolve));
}

function line(record: object): string {
  return `${JSON.stringify(record)}\n`;
}
