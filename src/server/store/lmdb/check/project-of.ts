import type { Database } from 'lmdb';
import { pathOfKey } from '../../codecs/path-keys.js';
import { decodeTimings } from '../../codecs/timing-codec.js';
import type { Tables } from '../tables.js';

type ProjectOf<V, K> = (key: K, value: V) => number | null | undefined;

/** A table that is missing here has records of the server, or records that lead to those of other tables. */
type Projects = { [T in keyof Tables]?: Tables[T] extends Database<infer V, infer K> ? ProjectOf<V, K> : never };

/** Finds the project of a record; null: it is of none, or its record is damaged or leads nowhere. */
export type FindProject = (table: string, key: unknown, value: unknown) => number | null;

export function projectsOf({ builds, ciRunKeys, timings }: Tables): FindProject {
  const ofBuild = (number: number) => builds.get(number)?.project;
  // A split or queue has the id of the CI run that it was made for.
  const ofPlan = (id: string) => ciRunKeys.get(id)?.[0];
  const own = (_: unknown, { project }: { project: number | null }) => project;
  const projects: Projects = {
    projects: id => id,
    projectNames: (_, id) => id,
    tokens: own,
    links: own,
    sessions: own,
    builds: own,
    buildNumbers: (_, number) => ofBuild(number),
    buildIndex: ([, number]) => ofBuild(number),
    subsets: ([number]) => ofBuild(number),
    paths: key => pathOfKey(key).project,
    // Read again: the check has read others since.
    timings: number => decodeTimings(timings.get(number)!).project,
    splits: (_, { id }) => ofPlan(id),
    splitRuns: ([id]) => ofPlan(id),
    queues: ofPlan,
    queuesOfNodeBuild: (_, id) => ofPlan(id),
    queuesOfBuild: (_, id) => ofPlan(id),
    batches: ([id]) => ofPlan(id),
    blobs: ([id]) => ofPlan(id),
    forecasts: ofPlan,
    ciRuns: ([project]) => project,
    ciRunKeys: (_, [project]) => project,
    ciRunsOfBuild: (_, project) => project,
    nodes: ([id]) => ofPlan(id),
    spared: ([id]) => ofPlan(id),
    ciRunsOfTree: ([project]) => project,
    unrecorded: ([project]) => project,
    summaries: ofBuild,
    failures: ([project]) => project,
    days: ([project]) => project,
    deliveries: ([, project]) => project,
    cases: ([project]) => project,
  };
  return (table, key, value) => {
    try {
      return (projects[table as keyof Tables] as ProjectOf<unknown, unknown> | undefined)?.(key, value) ?? null;
    } catch {
      return null;
    }
  };
}
