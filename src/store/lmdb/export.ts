import { LRUCache } from 'lru-cache';
import { EXPORT_VERSION, type ExportHead } from '../../engine/export-version.js';
import { limits } from '../../limits.js';
import { timingOn } from '../../planning/estimating/branch-timings.js';
import { estimateOf } from '../../planning/estimating/timing.js';
import { nameOfPath, runsOf } from './builds.js';
import { shortDigest } from './digest.js';
import type { Store } from './open.js';
import type { Project } from './projects.js';
import type { BuildRecord, Millis, RunKey } from './records.js';
import { decodeSubset } from './subset-codec.js';
import { decodeTimings, type PathTimings } from './timing-codec.js';

export interface ExportChoice {
  projects: readonly Project[];
  builds: boolean;
  timings: boolean;
}

/** Told of each line that is whole. */
export type Exported = (type: 'build' | 'timing') => void;

/**
 * What was recorded of the projects, as lines of JSON, in pieces: a head, the projects, the builds in the order of their
 * first runs, and what each path is expected to take on the default branch. Builds that are recorded meanwhile are not in
 * it. Between pieces no snapshot is held, so that a busy server can use freed pages again.
 */
export async function* exportLines(
  store: Store,
  { projects, builds, timings }: ExportChoice,
  now: Millis,
  told: Exported,
): AsyncGenerator<string> {
  const byId = new Map(projects.map(project => [project.id, project]));
  const head: ExportHead = { type: 'export', v: EXPORT_VERSION, exported_at: iso(now), projects: projects.map(({ name }) => name) };
  yield line(head);
  for (const { name, created_at, default_branch } of projects)
    yield line({ type: 'project', name, created_at: iso(created_at), default_branch });
  if (builds) yield* buildLines(store, byId, told);
  if (timings) yield* timingLines(store, byId, told);
}

async function* buildLines(store: Store, projects: ReadonlyMap<number, Project>, told: Exported): AsyncGenerator<string> {
  const end = store.meta.get('nextBuild') ?? 1;
  const nameOf = namesOf(store);
  for await (const page of pages<BuildRecord>(store, start =>
    store.builds.getRange({ start, end, limit: limits.exportedRecordsPerStep }),
  )) {
    for (const { key: number, value: build } of page) {
      const project = projects.get(build.project);
      if (!project) continue;
      const { id, commit_hash, branch, node_total, created_at, updated_at } = build;
      const head = {
        type: 'build',
        project: project.name,
        id,
        commit_hash,
        branch,
        node_total,
        created_at: iso(created_at),
        updated_at: iso(updated_at),
      };
      let text = `${JSON.stringify(head).slice(0, -1)},"build_subsets":[`;
      let separator = '';
      for (const key of [...store.subsets.getKeys(runsOf(number))]) {
        const run = runOf(store, key, nameOf);
        // Expired meanwhile.
        if (run === null) continue;
        await release(store);
        yield text + separator + run;
        text = '';
        separator = ',';
      }
      yield `${text}]}\n`;
      told('build');
    }
  }
}

function runOf(store: Store, key: RunKey, nameOf: (path: number) => string): string | null {
  const bytes = store.subsets.get(key);
  if (!bytes) return null;
  const { id, created_at, paths, seconds } = decodeSubset(bytes);
  const test_files = Array.from(paths, (path, i) => ({ path: nameOf(path), time_execution: seconds[i]! }));
  return JSON.stringify({ id, node_index: key[1], created_at: iso(created_at), test_files });
}

async function* timingLines(store: Store, projects: ReadonlyMap<number, Project>, told: Exported): AsyncGenerator<string> {
  const branches = new Map(
    [...projects].map(([id, { default_branch }]) => [id, default_branch === null ? 0 : shortDigest(default_branch)]),
  );
  const lineOf = (path: number, name: string): string => {
    const bytes = store.timings.get(path);
    const { project: id, seen_at, timings } = bytes ? decodeTimings(bytes) : NO_TIMINGS;
    const project = projects.get(id);
    if (!project) return '';
    const timing = timingOn(timings, branches.get(id)!, null);
    const [time_execution, measured_at] = timing ? [estimateOf(timing), iso(timing.at)] : [null, null];
    told('timing');
    return line({
      type: 'timing',
      project: project.name,
      path: JSON.parse(name) as string,
      time_execution,
      measured_at,
      seen_at: iso(seen_at),
    });
  };
  for await (const page of pages<string>(store, start => store.pathNames.getRange({ start, limit: limits.exportedRecordsPerStep }))) {
    const text = page.map(({ key: path, value: name }) => lineOf(path, name)).join('');
    await release(store);
    if (text !== '') yield text;
  }
}

const NO_TIMINGS: PathTimings = { project: 0, seen_at: 0, timings: [] };

/** All entries of a table whose keys are numbers, some at a time. */
async function* pages<V>(
  store: Store,
  pageFrom: (start: number) => Iterable<{ key: number; value: V }>,
): AsyncGenerator<{ key: number; value: V }[]> {
  for (let start = 0; ; ) {
    const page = [...pageFrom(start)];
    if (page.length > 0) yield page;
    await release(store);
    if (page.length < limits.exportedRecordsPerStep) return;
    start = page.at(-1)!.key + 1;
  }
}

/** Lets go of what is read now, as whoever takes the lines may be slow: later reads see a later moment. */
async function release(store: Store): Promise<void> {
  store.root.resetReadTxn();
  await new Promise(resolve => setImmediate(resolve));
}

/** Rough size of an entry without its characters, which take at most two bytes each. */
const BYTES_PER_NAME = 200;

/** The builds of a project name the same paths again and again. */
function namesOf(store: Store): (path: number) => string {
  const names = new LRUCache<number, string>({
    maxSize: limits.pathNamesBytes,
    sizeCalculation: name => BYTES_PER_NAME + 2 * name.length,
  });
  return path => {
    let name = names.get(path);
    if (name === undefined) names.set(path, (name = nameOfPath(store, path)));
    return name;
  };
}

function line(record: object): string {
  return `${JSON.stringify(record)}\n`;
}

function iso(millis: Millis): string {
  return new Date(millis).toISOString();
}
