import type { ProjectRecord } from '../records.js';
import type { Tables } from '../tables.js';
import type { Problem, Seen } from './problem.js';

/** Problems of projects, their names and tokens. */
export function* problemsOfProjects(tables: Tables, seen: Seen): Generator<Problem> {
  let last = 0;
  for (const {
    key: id,
    value: { name, deleted_at },
  } of tables.projects.getRange()) {
    seen('projects');
    last = id;
    if (deleted_at !== undefined) continue;
    const named = tables.projectNames.get(name);
    if (named === undefined) {
      yield { table: 'projects', key: id, what: `is not found by its name "${name}"`, repair: () => tables.projectNames.put(name, id) };
    } else if (named !== id) {
      yield { table: 'projects', key: id, what: `has the name "${name}", and so has project ${named}`, repair: null };
    }
  }
  if (last >= (tables.meta.get('nextProject') ?? 1)) {
    yield {
      table: 'meta',
      key: 'nextProject',
      what: `is not after project ${last}`,
      repair: () => tables.meta.put('nextProject', last + 1),
    };
  }
  for (const { key: name, value: id } of tables.projectNames.getRange()) {
    const project = tables.projects.get(id);
    if (project?.name === name) continue;
    // The next build sets its default branch again.
    const lost: ProjectRecord = {
      v: 1,
      name,
      created_at: Date.now(),
      default_branch: null,
      is_default_branch_set: false,
      has_test_cases: true,
    };
    const repair = project ? null : () => tables.projects.put(id, lost);
    yield { table: 'projectNames', key: name, what: `names project ${id}, which has another name or does not exist`, repair };
  }
  for (const {
    key,
    value: { project, hash },
  } of tables.tokens.getRange()) {
    seen('tokens');
    if (!hash.startsWith(key)) yield { table: 'tokens', key, what: 'is not the beginning of its hash', repair: null };
    if (tables.projects.doesExist(project)) continue;
    yield { table: 'tokens', key, what: `is of project ${project}, which does not exist`, repair: null };
  }
}

/** Problems of sign-in links and sessions of the dashboard. A removed one only makes a person sign in again. */
export function* problemsOfSignIns(tables: Tables, seen: Seen): Generator<Problem> {
  for (const name of ['links', 'sessions'] as const) {
    const table = tables[name];
    for (const { key, value } of table.getRange()) {
      seen(name);
      const { hash, project } = value;
      const repair = () => table.remove(key);
      if (!hash.startsWith(key)) yield { table: name, key, what: 'is not the beginning of its hash', repair };
      else if (project !== null && !tables.projects.doesExist(project))
        yield { table: name, key, what: `is of project ${project}, which does not exist`, repair };
    }
  }
}
