import { FIRST_PUBLIC_SIDE } from '../../../engine/public-side/side.js';
import { ofRecord, type Problem, problemOf, type Seen } from '../../check/problem.js';
import type { Parts } from '../parts.js';
import { removeEntries } from '../writes/blobs.js';
import { JOURNAL_FILES } from '../writes/journal-files.js';
import { type FindProject, projectsOf } from './project-of.js';
import { type Check, checks } from './records.js';
import { type References, referencesIn } from './references.js';

/** Tables that are not counted, because their records only lead to those of others. */
const NOT_COUNTED = [
  'projectNames',
  'buildNumbers',
  'pendingRuns',
  'pathNames',
  'queuesOfNodeBuild',
  'queuesOfBuild',
  'ciRunKeys',
  'ciRunsOfBuild',
  'forecasts',
];

/**
 * Returns what is inconsistent in the tables. A server may be writing to them meanwhile: the check reads one state, because it never
 * yields to the event loop.
 */
export function* problemsOf(parts: Parts, seen: Seen): Generator<Problem> {
  // Before all others, because it sets the state that is read. The journal that a server has in memory is in another process.
  yield* ofRecord('journal', JOURNAL_FILES, () => {
    parts.journal.read();
    return [];
  });
  const references = referencesIn(parts);
  const projectOf = projectsOf(parts);
  for (const [name, check] of Object.entries(checks) as [keyof typeof checks, Check<unknown, unknown>][]) {
    const isCounted = !NOT_COUNTED.includes(name);
    yield* ofRecord(name, null, function* () {
      for (const { key, value } of parts[name].getRange()) {
        if (isCounted) seen(name);
        const problems = () => check(key, value, problemOf(name, key), parts, references);
        // Found only for a problem: nearly no record has one.
        for (const problem of ofRecord(name, key, problems)) yield { ...problem, project: projectOf(name, key, value) };
      }
    });
  }
  yield* problemsOfCounters(parts);
  yield* ofRecord('owners', null, () => problemsOfOwners(parts, references, projectOf, seen));
}

/** Problems of the numbers that the next project and the next build get. */
function* problemsOfCounters({ meta, projects, builds }: Parts): Generator<Problem> {
  for (const [key, kind, table, before] of [
    // Public sides have numbers of their own.
    ['nextProject', 'project', projects, FIRST_PUBLIC_SIDE],
    ['nextBuild', 'build', builds, Infinity],
  ] as const) {
    const [last = 0] = table.getKeys({ reverse: true, start: before, limit: 1 });
    if (last >= (meta.get(key) ?? 1)) yield problemOf('meta', key)(`is not after ${kind} ${last}`, () => meta.put(key, last + 1));
  }
}

/** Problems of the tables whose keys begin with a split or queue, which may have left them behind. */
function* problemsOfOwners(parts: Parts, references: References, projectOf: FindProject, seen: Seen): Generator<Problem> {
  for (const [name, owners] of [
    ['blobs', 'split or queue'],
    ['splitRuns', 'split'],
    ['batches', 'queue'],
  ] as const) {
    const table = parts[name];
    for (const owner of ownersIn(table)) {
      seen(name);
      if (references.exists(owner, owners) || references.expiring().has(owner)) continue;
      yield problemOf(
        name,
        owner,
        projectOf(name, [owner], null),
      )(`is of no ${owners}, and would never expire`, () => removeEntries(table, owner));
    }
  }
}

/** The names of the projects, by number. Damage of their table is a problem of its own. */
export function projectNames({ projects }: Parts): Map<number, string> {
  const names = new Map<number, string>();
  try {
    for (const { key, value } of projects.getRange()) names.set(key, value.name);
  } catch {}
  return names;
}

/** Returns the first part of each key, once. */
function* ownersIn(table: { getKeys(range: object): Iterable<[string, ...unknown[]]> }): Generator<string> {
  for (let start: [string, number] | null = ['', -Infinity]; start; ) {
    const [first]: [string, ...unknown[]][] = [...table.getKeys({ start, limit: 1 })];
    if (!first) return;
    yield first[0];
    // After all entries of this owner, whose second parts are numbers or names.
    start = [`${first[0]}\0`, -Infinity];
  }
}
