import { LRUCache } from 'lru-cache';
import { limits } from '../limits.js';
import { timingOn } from '../plan/times/branch-timings.js';
import { estimateOf } from '../plan/times/timing.js';
import { EXPORT_VERSION, type ExportHead } from '../wire/export.js';
import { nameOfPath, runsOf } from './builds.js';
import { shortDigest } from './digest.js';
import type { Store } from './open.js';
import type { Project } from './projects.js';
import type { BuildRecord, Millis, RunKey } from './records.js';
import { decodeSubset } from './subset-codec.js';
import { decodeTimings } from './timing-codec.js';

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
export async function* exportLines(store: Store, { projects, builds, timings }: ExportChoice, now: Millis, told: Exported): AsyncGenerator<string> {
  const byId = new Map(projects.map(project => [project.id, project]));
  const head: ExportHead = { type: 'export', v: EXPORT_VERSION, exported_at: iso(now), projects: projects.map(({ name }) => name) };
  yield line(head);
  for (const { name, created_at, default_branch } of projects) yield line({ type: 'project', name, created_at: iso(created_at), default_branch });
  if (builds) yield* buildLines(store, byId, told);
  if (timings) yield* timingLines(store, byId, told);
}

async function* buildLines(store: Store, projects: ReadonlyMap<number, Project>, told: Exported): AsyncGenerator<string> {
  const end = store.meta.get('nextBuild') ?? 1;
  const nameOf = namesOf(store);
  for await (const [number, build] of inPages<number, BuildRecord>(store, start => store.builds.getRange({ start, end, limit: limits.exportedPerStep }), 0)) {
    const project = projects.get(build.project);
    if (!project) continue;
    const { id, commit_hash, branch, node_total, created_at, updated_at } = build;
    const head = { type: 'build', project: project.name, id, commit_hash, branch, node_total, created_at: iso(created_at), updated_at: iso(updated_at) };
    yield `${JSON.stringify(head).slice(0, -1)},"build_subsets":[`;
    let separator = '';
    for (const key of [...store.subsets.getKeys(runsOf(number))]) {
      const run = runOf(store, key, nameOf);
      // Expired meanwhile.
      if (run === null) continue;
      yield separator + run;
      separator = ',';
      await release(store);
    }
    yield ']}\n';
    told('build');
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
  const branches = new Map([...projects].map(([id, { default_branch }]) => [id, default_branch === null ? 0 : shortDigest(default_branch)]));
  for await (const [path, name] of inPages<number, string>(store, start => store.pathNames.getRange({ start, limit: limits.exportedPerStep }), 0)) {
    const bytes = store.timings.get(path);
    if (!bytes) continue;
    const { project: id, seen_at, timings } = decodeTimings(bytes);
    const project = projects.get(id);
    if (!project) continue;
    const timing = timingOn(timings, branches.get(id)!, null);
    yield line({
      type: 'timing',
      project: project.name,
      path: JSON.parse(name) as string,
      time_execution: timing ? estimateOf(timing) : null,
      measured_at: timing ? iso(timing.at) : null,
      seen_at: iso(seen_at),
    });
    told('timing');
  }
}

/** All entries of a table whose keys are numbers, some at a time. */
async function* inPages<K extends number, V>(
  store: Store,
  pageFrom: (start: number) => Iterable<{ key: K; value: V }>,
  first: number,
): AsyncGenerator<[K, V]> {
  for (let start = first; ; ) {
    const page = [...pageFrom(start)];
    for (const { key, value } of page) yield [key, value];
    if (page.length < limits.exportedPerStep) return;
    start = page.at(-1)!.key + 1;
    await release(store);
  }
}

/** Lets go of what is read now: later reads see a later moment. */
async function release(store: Store): Promise<void> {
  store.root.resetReadTxn();
  await new Promise(resolve => setImmediate(resolve));
}

/** The builds of a project name the same paths again and again. */
function namesOf(store: Store): (path: number) => string {
  const names = new LRUCache<number, string>({ max: limits.exportedNames });
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
