import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { RecordedPath } from '../../../../src/server/engine/ports/timings.js';
import { Database } from '../../../../src/server/store/postgresql/connection/database.js';
import { Learner } from '../../../../src/server/store/postgresql/learner.js';
import { PATHS_PER_CHANGE } from '../../../../src/server/store/postgresql/paths.js';
import { cluster, emptyDatabase, openedStore } from '../../../harness/postgresql-store.js';
import { files, HOUR, NOW, newProject, record, secondsOf, upTo } from '../contract/fixtures.js';

async function opened() {
  const url = await emptyDatabase();
  const store = await openedStore(url);
  const database = new Database({ url, connections: 2 });
  onTestFinished(() => database.close());
  return { store, database, learner: new Learner(database), project: await newProject(store) };
}

describe.skipIf(cluster === null)('the learner', () => {
  it('learns a run of many files in parts', async () => {
    const { store, database, learner, project } = await opened();
    const count = 2 * PATHS_PER_CHANGE + 1;
    // The store has a learner, too.
    const change = vi.spyOn(Database.prototype, 'changeMany');
    onTestFinished(() => change.mockRestore());
    await record(store, project, {});
    await record(store, project, files(count), { node_index: 1 });
    await record(store, project, { 'spec/0_spec.rb': 2 }, { node_index: 2, commit_hash: 'c', at: NOW + 1 });
    await learner.learn(project);
    expect(change.mock.calls.length).toBeGreaterThan(2);
    for (const [, values] of change.mock.calls) expect((values![3] as number[]).length).toBeLessThanOrEqual(PATHS_PER_CHANGE);
    expect(await database.read('select entry from unlearnt')).toEqual([]);
    const paths = Object.keys(files(count));
    expect(await secondsOf(store, project, [paths[1]!, paths[count >> 1]!, paths.at(-1)!])).toEqual([1, 1, 1]);
    const [first] = await store.timings.all((await store.builds.pathNumber(project, paths[0]!))!, 1);
    // The later build was learned last.
    expect(first!.timings[0]).toMatchObject({ times: [2], at: NOW + 1 });
  });

  it.for([
    ['runs of the same files together', [0, 0, 0], [3, 3]],
    ['a run of files in another order after the earlier ones', [0, 2, 0], [1, 1, 1, 1, 1, 1]],
  ] as const)('learns the parts of %s, in the order of the runs', async ([_, shifts, runsOfChanges]) => {
    const { store, database, learner, project } = await opened();
    const count = PATHS_PER_CHANGE + 10;
    const paths = Object.keys(files(count));
    const hold = vi.spyOn(Learner.prototype, 'note').mockImplementation(() => {});
    onTestFinished(() => hold.mockRestore());
    for (const [run, shift] of shifts.entries()) {
      const times = Object.fromEntries([...paths.slice(count - shift), ...paths].map(path => [path, run + 1]));
      await record(store, project, times, { commit_hash: `c${run}`, at: NOW + run * HOUR });
    }
    const change = vi.spyOn(database, 'changeMany');
    await learner.learn(project);
    expect(change.mock.calls.map(([, values]) => (values![2] as number[]).length)).toEqual(runsOfChanges);
    expect(await database.read('select entry from unlearnt')).toEqual([]);
    for (const path of [paths[0]!, paths[5]!, paths.at(-5)!, paths.at(-1)!]) {
      const [{ timings }] = (await store.timings.all((await store.builds.pathNumber(project, path))!, 1)) as [RecordedPath];
      expect(timings[0]).toMatchObject({ times: [3], before: { at: NOW + HOUR, builds: 2 } });
    }
  });

  it('looks once for all who ask while it looks', async () => {
    const { store, database, learner, project } = await opened();
    await record(store, project, files(1));
    const read = vi.spyOn(database, 'read');
    await Promise.all(upTo(1000).map(() => learner.learn(project)));
    // The first look reads the run, the times of its path, and that there is no more; the next one only that.
    expect(read.mock.calls.length).toBeLessThanOrEqual(4);
    expect(await secondsOf(store, project, ['spec/0_spec.rb'])).toEqual([1]);
  });

  it('waits for no recording that waits for it', async () => {
    const { store, database, learner, project } = await opened();
    const paths = Object.keys(files(500)).sort();
    // Their numbers are in the opposite order of their keys.
    for (const path of paths.toReversed()) await database.change(...inserted(project, path));
    const times = Object.fromEntries(paths.map(path => [path, 1]));
    for (let build = 1; build <= 20; build++) {
      const recording = record(store, project, times, { commit_hash: `c${build}`, at: NOW + build * HOUR });
      await Promise.all([recording, learner.learn(project)]);
    }
    await database.change('select pg_stat_force_next_flush()');
    const [{ deadlocks }] = (await database.read<{ deadlocks: number }>(
      'select deadlocks from pg_stat_database where datname = current_database()',
    )) as [{ deadlocks: number }];
    expect(deadlocks).toBe(0);
  });
});

function inserted(project: number, path: string): [string, unknown[]] {
  return [
    'insert into paths (project, key, name, seen_at) values ($1, $2, $3, 0)',
    [project, Buffer.from(`${project}/${path}`), JSON.stringify(path)],
  ];
}
