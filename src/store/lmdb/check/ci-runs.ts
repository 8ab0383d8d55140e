import { buildDigest } from '../../../engine/keys.js';
import { willExpire } from '../deleted-projects.js';
import type { Tables } from '../tables.js';
import { type Problem, problemOf, type Seen } from './problem.js';

/** Problems of CI runs and of the indexes that find them. */
export function* problemsOfCiRuns(tables: Tables, seen: Seen): Generator<Problem> {
  const { ciRuns, ciRunKeys, ciRunsOfBuild, expiry } = tables;
  for (const { key, value } of ciRuns.getRange()) {
    seen('ciRuns');
    const [project, created_at, id] = key;
    const problem = problemOf('ciRuns', key);
    const found = ciRunKeys.get(id);
    if (!found) yield problem('is not found by its id', () => ciRunKeys.put(id, [project, created_at]));
    else if (found[0] !== project || found[1] !== created_at) yield problem('has the id of another CI run', () => ciRuns.remove(key));
    const ofBuild: [string, number, string] = [buildDigest(project, value), created_at, id];
    if (!ciRunsOfBuild.doesExist(ofBuild)) yield problem('is not found by its build', () => ciRunsOfBuild.put(ofBuild, project));
    if (!willExpire(tables, [created_at, 'ci_run', id]))
      yield problem('would never expire', () => expiry.put([created_at, 'ci_run', id], true));
  }
  for (const { key: id, value } of ciRunKeys.getRange()) {
    if (ciRuns.doesExist([...value, id])) continue;
    yield { table: 'ciRunKeys', key: id, what: 'leads to a CI run that does not exist', repair: () => ciRunKeys.remove(id) };
  }
  for (const { key, value: project } of ciRunsOfBuild.getRange()) {
    const [build, created_at, id] = key;
    const record = ciRuns.get([project, created_at, id]);
    if (record && buildDigest(project, record) === build) continue;
    yield { table: 'ciRunsOfBuild', key, what: 'leads to a CI run that does not exist', repair: () => ciRunsOfBuild.remove(key) };
  }
}
