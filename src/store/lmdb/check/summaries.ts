import { endOfDay } from '../../../engine/insight/trends/days.js';
import { willExpire } from '../deleted-projects.js';
import type { ExpiryKey, Tables } from '../tables.js';
import type { Problem, Seen } from './problem.js';

/** Problems of summaries and days. A summary that is missing is none, because a list of builds has it written again. */
export function* problemsOfSummaries(tables: Tables, seen: Seen): Generator<Problem> {
  for (const key of tables.summaries.getKeys()) {
    seen('summaries');
    const repair = () => tables.summaries.remove(key);
    if (!tables.builds.doesExist(key)) yield { table: 'summaries', key, what: 'is of a build that does not exist', repair };
  }
  for (const key of tables.days.getKeys()) {
    seen('days');
    const [project, , day] = key;
    const remove = () => tables.days.remove(key);
    if (!tables.projects.doesExist(project)) {
      yield { table: 'days', key, what: `is of project ${project}, which does not exist`, repair: remove };
      continue;
    }
    const expiry: ExpiryKey = [endOfDay(day), 'day', ...key];
    if (!willExpire(tables, expiry))
      yield { table: 'days', key, what: 'would never expire', repair: () => tables.expiry.put(expiry, true) };
  }
}
