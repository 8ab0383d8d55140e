import type { Tables } from '../tables.js';
import type { Problem, Seen } from './problem.js';

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
