import { describe, expect, it } from 'vitest';
import { type QueueKey, queueKey, splitKey } from '../../../../src/server/engine/keys.js';
import type { Store } from '../../../../src/server/engine/ports/store.js';
import { openPostgresqlStore } from '../../../../src/server/store/postgresql/store.js';
import { cluster, databaseWithoutTables, emptyDatabase, openedStore } from '../../../harness/postgresql-store.js';
import { statement } from '../../../testbed/postgresql.js';
import { seededRandom } from '../../../testbed/random.js';
import {
  ascending,
  BUILD,
  buildsOf,
  files,
  NOW,
  newProject,
  newQueue,
  newSplit,
  pull,
  record,
  secondsOf,
  settle,
  sparedCiRun,
  summaryOf,
  upTo,
} from '../contract/fixtures.js';

async function twoProcesses(): Promise<{ stores: [Store, Store]; project: number }> {
  const url = await emptyDatabase();
  const stores: [Store, Store] = [await openedStore(url), await openedStore(url)];
  return { stores, project: await newProject(stores[0]) };
}

/** Two processes, and a queue that the first one created. */
async function queueOfTwo(files: number): Promise<{ first: Store; second: Store; key: QueueKey }> {
  const { stores, project } = await twoProcesses();
  const [first, second] = stores;
  const key = queueKey(project, BUILD, '1');
  await first.queues.create(key, newQueue(files), NOW);
  return { first, second, key };
}

/** Pulls for a node from each store in turn, until the queue is empty. Returns the files that it got. */
async function pullRest(stores: readonly Store[], key: QueueKey, node: number): Promise<number[]> {
  const handed: number[] = [];
  for (let pulls = 0; ; pulls++) {
    const batch = await pull(stores[pulls % stores.length]!, key, node, { batch_uuid: `${node} ${pulls}` });
    if (!batch) return handed;
    handed.push(...batch.files);
  }
}

describe.skipIf(cluster === null)('two processes on one database', () => {
  it('open for a thread while the database is away', async () => {
    const source = { url: 'postgres://ballast@127.0.0.1:1/none', connections: 1, mayMigrate: false };
    const store = await openPostgresqlStore({ ...source, isServed: true });
    await store.close();
  });

  it('that start at once make the tables once', async () => {
    const url = await databaseWithoutTables();
    const stores = await Promise.all(upTo(4).map(() => openedStore(url)));
    const projects = await Promise.all(stores.map((store, i) => store.access.createProject('web', `hash ${i}`, NOW)));
    expect(projects.filter(project => project !== null)).toHaveLength(1);
    for (const store of stores) expect(await store.access.projects()).toHaveLength(1);
  });

  it.each([1, 2, 3])('hand out each file of a queue once, to nodes that pull from either (%d)', async seed => {
    const { stores, project } = await twoProcesses();
    const random = seededRandom(seed);
    const key = queueKey(project, BUILD, '1');
    await Promise.all(stores.map(store => store.queues.create(key, newQueue(200), NOW)));
    const node = async (index: number): Promise<number[]> => {
      const handed: number[] = [];
      for (let pulls = 0; ; pulls++) {
        const store = stores[Math.floor(2 * random())]!;
        const batch = await pull(store, key, index, { batch_uuid: index % 2 === 0 ? `${index} ${pulls}` : null }, NOW + pulls);
        if (!batch) return handed;
        await settle(store, key, batch, true);
        handed.push(...batch.files);
      }
    };
    const handed = await Promise.all(upTo(BUILD.node_total).map(node));
    expect(ascending(handed.flat())).toEqual(upTo(200));
    const [one, other] = await Promise.all(stores.map(async store => store.queues.batches((await store.queues.find(key))!.id)));
    expect(one).toEqual(other);
    expect(ascending(one!.flatMap(batch => batch.files))).toEqual(upTo(200));
  });

  it('hand out each file of many queues once, to nodes that pull from both at the same moment', async () => {
    const { stores, project } = await twoProcesses();
    const keys = upTo(20).map(i => queueKey(project, { ...BUILD, commit_hash: `c${i}` }, '1'));
    await Promise.all(keys.map((key, i) => stores[i % 2]!.queues.create(key, newQueue(60 + i), NOW)));
    const nodesOf = (key: QueueKey) => [pullRest(stores, key, 0), pullRest(stores.toReversed(), key, 1)];
    const handed = await Promise.all(keys.map(async key => (await Promise.all(nodesOf(key))).flat()));
    expect(handed.map(ascending)).toEqual(keys.map((_, i) => upTo(60 + i)));
  });

  it('answer one request that both get with one batch', async () => {
    const { first, second, key } = await queueOfTwo(200);
    for (const batch_uuid of ['a', 'b', 'c']) {
      const [one, other] = await Promise.all([first, second].map(store => pull(store, key, 0, { batch_uuid })));
      expect([one!.seq, one!.files]).toEqual([other!.seq, other!.files]);
    }
  });

  it('give a node without uuids its next batch when the note that its last one arrived comes after its pull', async () => {
    const { first, second, key } = await queueOfTwo(40);
    const sent = (await pull(first, key, 0))!;
    // The second process has the queue in memory, without the note.
    await pull(second, key, 1);
    const next = pull(second, key, 0);
    await second.queues.find(key);
    await settle(first, key, sent, true);
    expect((await next)!.seq).toBe(2);
  });

  it('do not repeat a batch that they are still answering with, although the other changed the queue', async () => {
    const { first, second, key } = await queueOfTwo(40);
    await pull(first, key, 0);
    await pull(second, key, 1);
    // The first process reads the queue again.
    await pull(first, key, 2);
    expect((await pull(first, key, 0))!.seq).toBe(3);
  });

  it('take no batch back that the other one sent again', async () => {
    const { first, second, key } = await queueOfTwo(40);
    let hasLeft = false;
    const sent = (await pull(first, key, 0, { batch_uuid: 'a', hasLeft: () => hasLeft }))!;
    hasLeft = true;
    const again = (await pull(second, key, 0, { batch_uuid: 'a', isRetry: true }))!;
    expect(again.files).toEqual(sent.files);
    await settle(first, key, sent, false);
    await settle(second, key, again, true);
    const rest = await pullRest([first, second], key, 1);
    expect(ascending([...sent.files, ...rest])).toEqual(upTo(40));
  });

  it('take a batch back whose node is gone, and hand its files to another', async () => {
    const { first, second, key } = await queueOfTwo(40);
    const lost = (await pull(first, key, 0, { batch_uuid: 'a', hasLeft: () => true }))!;
    // The second process changes the queue before the first one takes the batch back.
    const other = (await pull(second, key, 1, { batch_uuid: 'b' }))!;
    await settle(first, key, lost, false);
    const rest = await pullRest([second], key, 2);
    expect(ascending([...other.files, ...rest])).toEqual(upTo(40));
  });

  it('say that a queue is at its end only when it is', async () => {
    const { first, second, key } = await queueOfTwo(1);
    const batch = (await pull(first, key, 0, { batch_uuid: 'a', hasLeft: () => true }))!;
    expect(await pull(second, key, 1, { batch_uuid: 'b' })).toBeNull();
    await settle(first, key, batch, false);
    // The second process has a state of before in memory.
    expect((await pull(second, key, 1, { batch_uuid: 'c' }))!.files).toEqual([0]);
  });

  it('make one build of the runs that both record, with ordinals without gaps', async () => {
    const { stores, project } = await twoProcesses();
    const runs = upTo(60).map(i => record(stores[i % 2]!, project, files(3), { node_total: 40, node_index: i % 40, at: NOW + i }));
    expect(new Set(await Promise.all(runs))).toEqual(new Set(['recorded']));
    const builds = await buildsOf(stores[0], project);
    expect(builds).toMatchObject([{ recorded: 60, subsets: 60, test_files: 180 }]);
    const heads = await stores[1].builds.runs(builds[0]!.number);
    expect(ascending(heads.map(({ ordinal }) => ordinal))).toEqual(upTo(60).map(i => i + 1));
  });

  it('number the builds of a project in the order in which they are created', async () => {
    const { stores, project } = await twoProcesses();
    await Promise.all(upTo(40).map(i => record(stores[i % 2]!, project, files(1), { commit_hash: `c${i}`, at: NOW })));
    const builds = await buildsOf(stores[0], project);
    expect(builds).toHaveLength(40);
    expect(builds.map(({ id }) => id)).toEqual(builds.map(({ id }) => id).sort());
    expect(await stores[1].access.project(project)).toMatchObject({ default_branch: 'main' });
  });

  it('learn the times of each run once', async () => {
    const { stores, project } = await twoProcesses();
    const alone = await twoProcesses();
    for (let build = 0; build < 6; build++) {
      const times = Object.fromEntries(upTo(20).map(i => [`spec/${i}_spec.rb`, 1 + ((i * build) % 7)]));
      const at = NOW + build * 1000;
      await record(stores[build % 2]!, project, times, { commit_hash: `c${build}`, at });
      await record(alone.stores[0], alone.project, times, { commit_hash: `c${build}`, at });
      await Promise.all(stores.map(store => store.maintenance.publish('timings')));
      await alone.stores[0].maintenance.publish('timings');
    }
    const paths = upTo(20).map(i => `spec/${i}_spec.rb`);
    const expected = await secondsOf(alone.stores[0], alone.project, paths);
    for (const store of stores) expect(await secondsOf(store, project, paths)).toEqual(expected);
  });

  it('count each summary once on its day', async () => {
    const { stores, project } = await twoProcesses();
    for (const i of upTo(4)) await record(stores[0], project, files(1), { commit_hash: `c${i}` });
    const builds = await buildsOf(stores[0], project);
    await Promise.all(builds.flatMap(build => stores.map(store => store.summaries.put(build, summaryOf()))));
    const day = Math.floor(NOW / 86_400_000);
    for (const store of stores)
      expect(await store.summaries.days(project, null, day, day)).toMatchObject([{ sums: { builds: 4, wall: 400 } }]);
  });

  it('count a CI run once that many nodes ask about', async () => {
    const { stores, project } = await twoProcesses();
    await stores[0].queues.create(queueKey(project, BUILD, '7'), newQueue(3), NOW);
    const [by] = await stores[0].ciRuns.ofBuild(project, BUILD);
    const noted = await Promise.all(upTo(8).map(i => stores[i % 2]!.ciRuns.noteSpared(by!, sparedCiRun({ asked_at: NOW + i }))));
    expect(noted.filter(Boolean)).toHaveLength(1);
    const day = Math.floor(NOW / 86_400_000);
    for (const store of stores)
      expect(await store.summaries.days(project, 'main', day, day)).toMatchObject([{ sums: { proved_runs: 1, proved_seconds: 90 } }]);
  });

  it('make one split for nodes that ask either', async () => {
    const { stores, project } = await twoProcesses();
    const key = splitKey(project, BUILD, '7', true);
    const splits = await Promise.all(upTo(8).map(i => stores[i % 2]!.splits.create(key, newSplit(key), NOW + i)));
    expect(new Set(splits.map(({ id }) => id)).size).toBe(1);
    for (const store of stores) expect(await store.plans.files(splits[0]!.id, 3)).toEqual(await stores[0].plans.files(splits[0]!.id, 3));
    expect(await stores[1].ciRuns.list(project, NOW + 100, 10)).toHaveLength(1);
  });

  it('share the work of a sweep', async () => {
    const { stores, project } = await twoProcesses();
    const counts = () => Promise.all(stores.map(store => store.builds.count(project, { branch: BUILD.branch })));
    expect(await counts()).toEqual([0, 0]);
    await record(stores[0], project, files(2), { commit_hash: 'c0' });
    expect(await counts()).toEqual([1, 1]);
    await Promise.all(upTo(100).map(i => record(stores[i % 2]!, project, files(2), { commit_hash: `c${i}`, node_index: 1 })));
    await record(stores[1], project, files(2), { commit_hash: 'new', at: NOW + 2 });
    expect(await counts()).toEqual([101, 101]);
    let deleted = 0;
    const sweep = async (store: Store) => {
      for await (const _ of store.maintenance.sweep({ before: NOW + 1, deletedBefore: 0 }, kind => (deleted += Number(kind === 'subset'))));
    };
    await Promise.all(stores.map(sweep));
    await sweep(stores[0]);
    expect(deleted).toBe(101);
    expect((await buildsOf(stores[1], project)).map(({ commit_hash }) => commit_hash)).toEqual(['new']);
    expect(await counts()).toEqual([1, 1]);
  });

  it('count builds again when a failover has taken the last of them', async () => {
    const url = await emptyDatabase();
    const [store, other] = [await openedStore(url), await openedStore(url)];
    const project = await newProject(store);
    for (const branch of ['main', 'main', 'next']) await record(store, project, files(2), { branch, commit_hash: `${Math.random()}` });
    const counts = () => Promise.all(['main', 'next'].map(branch => store.builds.count(project, { branch })));
    expect(await counts()).toEqual([2, 1]);
    await statement(url, `delete from builds where number > 1; delete from runs where build > 1; select setval('builds_number_seq', 1)`);
    await record(other, project, files(2), { branch: 'next', commit_hash: 'again' });
    expect(await counts()).toEqual([1, 1]);
  });
});
