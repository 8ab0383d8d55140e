import type { BuildFilter } from '../../engine/build-key.js';
import { buildDigest } from '../../engine/keys.js';
import type { Build, Builds, Run, RunHead } from '../../engine/ports/builds.js';
import { limits } from '../../limits.js';
import type { Tables } from './tables.js';
import { pathKey } from './timings.js';

export function memoryBuilds({ builds, runs, paths }: Tables): Builds {
  const newestFirst = (project: number, filter: BuildFilter) =>
    [...builds.values()].filter(build => build.project === project && matches(build, filter)).reverse();
  const runsOf = (build: number) => runs.get(build) ?? [];
  return {
    get: (project, id) => [...builds.values()].find(build => build.project === project && build.id === id) ?? null,
    find: (project, key) => builds.get(buildDigest(project, key)) ?? null,
    newest: (project, filter) => newestFirst(project, filter)[0] ?? null,
    page(project, filter, page) {
      const all = newestFirst(project, filter);
      const start = (page - 1) * limits.buildsPerPage;
      return { total: all.length, builds: all.slice(start, start + limits.buildsPerPage) };
    },
    older(project, filter, before, limit) {
      const all = newestFirst(project, filter);
      return { total: all.length, builds: all.filter(({ number }) => number < (before ?? Infinity)).slice(0, limit) };
    },
    list: (from, limit) => [...builds.values()].filter(({ number }) => number >= from).slice(0, limit),
    runs: (build, node_index) =>
      runsOf(build)
        .filter(run => node_index === undefined || run.node_index === node_index)
        .map(headOf)
        .sort((a, b) => a.node_index - b.node_index),
    run(build, { node_index, run }, from, to) {
      const found = runsOf(build).find(known => known.node_index === node_index && known.run === run);
      return found ? { ...found, paths: found.paths.slice(from, to), seconds: found.seconds.slice(from, to) } : null;
    },
    times(build, { node_index, run }) {
      const found = runsOf(build).find(known => known.node_index === node_index && known.run === run);
      const owner = [...builds.values()].find(({ number }) => number === build);
      if (!found || !owner) return null;
      return { paths: Uint32Array.from(found.paths, path => paths.get(pathKey(owner.project, path))!.number), seconds: found.seconds };
    },
    path: number => [...paths.values()].find(known => known.number === number)!.path,
    pathNumber: (project, path) => paths.get(pathKey(project, path))?.number ?? null,
  };
}

function matches(build: Build, { commit_hash, branch, node_total }: BuildFilter): boolean {
  return (
    (commit_hash === undefined || build.commit_hash === commit_hash) &&
    (branch === undefined || build.branch === branch) &&
    (node_total === undefined || build.node_total === node_total)
  );
}

function headOf({ paths: _paths, seconds: _seconds, ...head }: Run): RunHead {
  return head;
}
