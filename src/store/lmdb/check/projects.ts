import type { Parts } from '../open.js';
import type { ProjectRecord } from '../records.js';
import type { Problem, Seen } from './problem.js';

/** Projects, their names and tokens. */
export function* problemsOfProjects(store: Parts, seen: Seen): Generator<Problem> {
  let last = 0;
  for (const {
    key: id,
    value: { name },
  } of store.projects.getRange()) {
    seen('projects');
    last = id;
    const named = store.projectNames.get(name);
    if (named === undefined) {
      yield { table: 'projects', key: id, what: `is not found by its name "${name}"`, repair: () => store.projectNames.put(name, id) };
    } else if (named !== id) {
      yield { table: 'projects', key: id, what: `has the name "${name}", and so has project ${named}`, repair: null };
    }
  }
  if (last >= (store.meta.get('nextProject') ?? 1)) {
    yield {
      table: 'meta',
      key: 'nextProject',
      what: `is not behind project ${last}`,
      repair: () => store.meta.put('nextProject', last + 1),
    };
  }
  for (const { key: name, value: id } of store.projectNames.getRange()) {
    const project = store.projects.get(id);
    if (project?.name === name) continue;
    // The next builds determine its default branch again.
    const lost: ProjectRecord = { v: 1, name, created_at: Date.now(), default_branch: null, has_test_cases: true };
    const repair = project ? null : () => store.projects.put(id, lost);
    yield { table: 'projectNames', key: name, what: `names project ${id}, which is another or not there`, repair };
  }
  for (const {
    key,
    value: { project, hash },
  } of store.tokens.getRange()) {
    seen('tokens');
    if (!hash.startsWith(key)) yield { table: 'tokens', key, what: 'is not the beginning of its hash', repair: null };
    if (store.projects.doesExist(project)) continue;
    yield { table: 'tokens', key, what: `is of project ${project}, which is not there`, repair: null };
  }
}
