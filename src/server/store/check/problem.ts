import { pluralize } from '../../../base/plural.js';

/** An inconsistency in the store. */
export interface Problem {
  table: string;
  /** Null: the whole table, which cannot be read. */
  key: unknown;
  /** The number of the project whose record it is; null: it is of none, or nobody knows. */
  project: number | null;
  /** The problem, as the end of a sentence that begins with the table and the key. */
  what: string;
  /** Restores the record from others; null: it cannot be restored. */
  repair: (() => Promise<unknown>) | null;
}

/** Creates a problem of one record. Without a repair it cannot be restored. */
export type ProblemOf = (what: string, repair?: Problem['repair']) => Problem;

export function problemOf(table: string, key: unknown, project: number | null = null): ProblemOf {
  return (what, repair = null) => ({ table, key, project, what, repair });
}

/** A problem as it is printed. */
export interface FoundProblem extends Pick<Problem, 'table' | 'key' | 'what'> {
  /** The name of the project; null: it is of none, or nobody knows. */
  project: string | null;
  repairable: boolean;
}

/** @param projects the names of the projects, by number */
export function toFound(problems: readonly Problem[], projects: ReadonlyMap<number, string>): FoundProblem[] {
  return problems.map(({ table, key, project, what, repair }) => ({
    table,
    key,
    project: nameOf(project, projects),
    what,
    repairable: repair !== null,
  }));
}

function nameOf(project: number | null, projects: ReadonlyMap<number, string>): string | null {
  return (project === null ? undefined : projects.get(project)) ?? null;
}

export function sentenceOf({ table, key, what }: Pick<Problem, 'table' | 'key' | 'what'>): string {
  return `${table} ${JSON.stringify(key)} ${what}`;
}

/** Number of projects that a sentence names. */
const PROJECTS_NAMED = 5;

/**
 * Says how many problems there are, and in which projects and tables; null: there are none. Keeps nothing of a problem that it has counted: each
 * record may have some. Keys are not named: they may be secrets, or names of persons.
 *
 * @param projects the names of the projects, by number
 */
export function placesOf(problems: Iterable<Pick<Problem, 'table' | 'project'>>, projects: ReadonlyMap<number, string>): string | null {
  const byProject = new Map<string | null, { count: number; tables: Set<string> }>();
  for (const { project, table } of problems) {
    const name = nameOf(project, projects);
    const own = byProject.get(name) ?? { count: 0, tables: new Set() };
    byProject.set(name, own);
    own.count += 1;
    own.tables.add(table);
  }
  if (byProject.size === 0) return null;
  const places = Array.from(byProject, ([project, { count, tables }]) => {
    const ofProject = project === null ? '' : ` of the project ${JSON.stringify(project)}`;
    return `${pluralize(count, 'problem')} in ${[...tables].join(', ')}${ofProject}`;
  });
  const more = places.length - PROJECTS_NAMED;
  return `${places.slice(0, PROJECTS_NAMED).join('; ')}${more > 0 ? `; and in ${pluralize(more, 'other project')}` : ''}`;
}

/** Called with the table of each record that is checked. */
export type Seen = (table: string) => void;

/** Returns the problems of one record, or with a key of null of all records of a table. A record that cannot be read is a problem. */
export function* ofRecord(
  table: string,
  key: unknown,
  problems: () => Iterable<Problem>,
  project: number | null = null,
): Generator<Problem> {
  try {
    yield* problems();
  } catch (error) {
    yield problemOf(table, key, project)(`cannot be read: ${(error as Error).message}`);
  }
}

/** Repairs that run at once share a flush. */
const REPAIRS_AT_ONCE = 500;

/** A repair may reveal further problems: a build without runs is still listed. */
const MAX_ROUNDS = 5;

/**
 * Repairs what can be repaired, and looks again, until nothing is left that can be. Returns what is left.
 *
 * @param find looks for problems
 */
export async function repairAll(found: readonly Problem[], find: () => Promise<readonly Problem[]>): Promise<readonly Problem[]> {
  let left = found;
  for (let round = 0; round < MAX_ROUNDS && left.some(problem => problem.repair); round++) {
    await repair(left);
    left = await find();
  }
  return left;
}

/** Repairs what can be repaired. */
export async function repair(problems: readonly Problem[]): Promise<void> {
  const repairs = problems.flatMap(problem => problem.repair ?? []);
  for (let from = 0; from < repairs.length; from += REPAIRS_AT_ONCE) {
    await Promise.all(repairs.slice(from, from + REPAIRS_AT_ONCE).map(once => once()));
  }
}
