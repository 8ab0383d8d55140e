import { cpSync } from 'node:fs';
import type { Database, Key } from 'lmdb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { segment } from '../../../../src/base/bytes.js';
import type { Batch } from '../../../../src/server/engine/queue/batch.js';
import { type Problem, repair } from '../../../../src/server/store/check/problem.js';
import { encodeFiles } from '../../../../src/server/store/codecs/file-blocks.js';
import { type EncodedPart, encodeParts } from '../../../../src/server/store/codecs/plan-parts.js';
import { encodeChange } from '../../../../src/server/store/codecs/queue-changes.js';
import { encodeTimings } from '../../../../src/server/store/codecs/timing-codec.js';
import { problemsOf } from '../../../../src/server/store/lmdb/check/check.js';
import type { Parts } from '../../../../src/server/store/lmdb/parts.js';
import { batchesOf } from '../../../../src/server/store/lmdb/plans/read-queue.js';
import { openLmdbStore } from '../../../../src/server/store/lmdb/store.js';
import { commit } from '../../../../src/server/store/lmdb/writes/commit.js';
import { temporaryFolder } from '../../../harness/temporary-folder.js';
import { DAY, estimates, LIST, NOW, sweep } from '../contract/fixtures.js';
import { LATER, type Served, serve } from '../contract/served.js';
import { expire, leftovers, temporaryStore } from './temporary-store.js';

let served: Served;
const splitId = (store: Parts) => store.splits.get(served.split.digest)!.id;
const queueId = (store: Parts) => store.queuesOfNodeBuild.get(served.queue.digest)!;

/** A folder that all tests copy, as filling one takes longer than most tests. */
const filled = temporaryFolder(afterAll);
beforeAll(async () => {
  const store = openLmdbStore(filled);
  served = await serve(store);
  // Of the deleted project nothing is left.
  await sweep(store, NOW + 1.5 * DAY, LATER);
  await store.close();
});

/** Returns a store that served. */
function filledStore(): Parts {
  const dataDir = temporaryFolder();
  cpSync(filled, dataDir, { recursive: true });
  return temporaryStore(dataDir);
}

const problemsIn = (store: Parts): Problem[] => [...problemsOf(store, () => {})];
const isRepairable = (problems: readonly Problem[]) => problems.some(problem => problem.repair);

/** Repairs until nothing is left that can be repaired, and expects that nothing else is wrong. */
async function expectRepaired(store: Parts): Promise<void> {
  while (isRepairable(problemsIn(store))) await repair(problemsIn(store));
  expect(problemsIn(store)).toEqual([]);
}

/** Returns a table by name. */
const tableOf = (store: Parts, name: string) => store[name as 'meta'] as Database<unknown, Key>;
const contents = (store: Parts) =>
  Object.fromEntries(TABLES.map(name => [name, recordsOf(tableOf(store, name)).map(({ key, value }) => [key, value])]));

/** Copies of the records of a table: those of `timings` are valid until the next read. */
function recordsOf<V, K extends Key>(table: Database<V, K>): { key: K; value: V }[] {
  const copyOf = (value: V) => (Buffer.isBuffer(value) ? (Buffer.from(value.subarray(0, value.length)) as V) : value);
  return [...table.getRange().map(({ key, value }) => ({ key, value: copyOf(value) }))];
}

/** Tables whose records follow from no others. */
const INDEPENDENT = [
  'meta',
  'tokens',
  'batches',
  'pendingRuns',
  'queuesOfBuild',
  'summaries',
  'failures',
  'unrecorded',
  'nodes',
  'spared',
  'days',
  'links',
  'sessions',
];
/** Tables whose records all follow from others. */
const DERIVED = ['projectNames', 'buildNumbers', 'buildIndex', 'buildCounts', 'ciRunKeys', 'ciRunsOfBuild', 'ciRunsOfTree', 'expiry'];
/** Tables whose records others refer to. */
const OF_BUILDS = ['projects', 'builds', 'subsets', 'paths', 'pathNames', 'timings'];
const OF_CI_RUNS = ['splits', 'queues', 'queuesOfNodeBuild', 'ciRuns', 'blobs', 'forecasts'];
const REFERRED = [...OF_BUILDS, ...OF_CI_RUNS];
/** Tables whose records are removed with those that they refer to. */
const REFERENCES = [
  'links',
  'sessions',
  'summaries',
  'failures',
  'unrecorded',
  'nodes',
  'spared',
  'days',
  'pendingRuns',
  'forecasts',
  'queuesOfBuild',
  'queuesOfNodeBuild',
];
const TABLES = [...INDEPENDENT, ...DERIVED, ...REFERRED];

describe('a store', () => {
  it('that the program wrote has no problems, and records in each table', async () => {
    const store = filledStore();
    expect(problemsIn(store)).toEqual([]);
    const empty = TABLES.filter(name => [...tableOf(store, name).getKeys()].length === 0);
    expect(empty).toEqual(['pendingRuns']);
  });

  it.each([...DERIVED, ...REFERRED])('that lost a record of %s has a problem, and loses no other record in a repair', async name => {
    const store = filledStore();
    const before = contents(store);
    const keysOf = (table: string) => [...tableOf(store, table).getKeys()].map(key => JSON.stringify(key));
    for (const [key, value] of sample(before[name]!)) {
      await tableOf(store, name).remove(key as Key);
      let problems = problemsIn(store);
      expect(problems.length, JSON.stringify(key)).toBeGreaterThan(0);
      for (let round = 0; round < 3 && isRepairable(problems); round++) {
        await repair(problems);
        problems = problemsIn(store);
      }
      expect(isRepairable(problems), JSON.stringify(key)).toBe(false);
      for (const table of TABLES.filter(other => ![...DERIVED, ...REFERENCES].includes(other))) {
        const lost = before[table]!.map(([lostKey]) => JSON.stringify(lostKey)).filter(lostKey => !keysOf(table).includes(lostKey));
        expect(
          lost.filter(lostKey => table !== name || lostKey !== JSON.stringify(key)),
          `${table} after ${name} ${JSON.stringify(key)}`,
        ).toEqual([]);
      }
      await tableOf(store, name).put(key as Key, value);
      await repair(problemsIn(store));
    }
  });

  it.each(DERIVED)('that lost all records of %s has them again after a repair', async name => {
    const store = filledStore();
    const before = contents(store);
    const table = tableOf(store, name);
    await table.clearAsync();
    await expectRepaired(store);
    expect(contents(store)).toEqual(before);
  });

  it.each<[situation: string, damage: (store: Parts) => void, table: string, what: RegExp]>([
    ['counts too many runs', ({ builds }) => void builds.put(4, { ...builds.get(4)!, subsets: 9 }), 'builds', /counts 9 runs/],
    ['would repeat the numbers of builds', ({ meta }) => void meta.put('nextBuild', 3), 'meta', /not after build 4/],
    ['would repeat the numbers of projects', ({ meta }) => void meta.put('nextProject', 1), 'meta', /not after project 2/],
    ['lists a build that does not exist', ({ buildIndex }) => void buildIndex.put(['filter', 99], true), 'buildIndex', /does not exist/],
    ['has a pending run that does not exist', ({ pendingRuns }) => void pendingRuns.put(7, [[99, 0, 1]]), 'pendingRuns', /does not exist/],
    [
      'has a summary without a build',
      ({ summaries }) => void summaries.put(99, summaries.get(4)!),
      'summaries',
      /build that does not exist/,
    ],
    ['has failures of no build', ({ failures }) => void failures.put([1, 99], Buffer.alloc(10)), 'failures', /build that does not exist/],
    [
      'has a summary without a CI run',
      ({ unrecorded }) => first(unrecorded, summary => summary, [1, NOW, 'nobody']),
      'unrecorded',
      /CI run that does not exist/,
    ],
    ['has a day without a project', ({ days }) => first(days, day => day, [9, '', 5]), 'days', /project 9, which does not exist/],
    ['has a day that never expires', ({ days }) => first(days, day => day, [1, '', 5]), 'days', /would never expire/],
    ['has blobs without an owner', ({ blobs }) => void blobs.put(['nobody', 0], Buffer.from('x')), 'blobs', /no split or queue/],
    ['has batches without a queue', ({ batches }) => void batches.put(['nobody', 1], []), 'batches', /no queue/],
    [
      'has a forecast without an owner',
      store => void store.forecasts.put('nobody', store.forecasts.get(queueId(store))!),
      'forecasts',
      /no split or queue/,
    ],
    [
      'refers to a queue that does not exist',
      ({ queuesOfBuild }) => void queuesOfBuild.put('k', 'gone'),
      'queuesOfBuild',
      /does not exist/,
    ],
    [
      'lists a CI run that does not exist',
      ({ ciRunsOfBuild }) => void ciRunsOfBuild.put(['build', NOW, 'gone'], 1),
      'ciRunsOfBuild',
      /does not exist/,
    ],
    [
      'has a link of no project',
      ({ links }) => first(links, link => ({ ...link, project: 9 })),
      'links',
      /project 9, which does not exist/,
    ],
    ['has a session under a wrong key', ({ sessions }) => first(sessions, each => each, 'wrong'), 'sessions', /beginning of its hash/],
    ['has the id of a CI run that does not exist', ({ ciRunKeys }) => void ciRunKeys.put('gone', [1, NOW]), 'ciRunKeys', /does not exist/],
  ])('that %s is repaired', async (_, damage, table, what) => {
    const store = filledStore();
    await commit(store, () => damage(store));
    expect(problemsIn(store)).toContainEqual(expect.objectContaining({ table, what: expect.stringMatching(what) as string }));
    await expectRepaired(store);
  });

  it.each<[situation: string, damage: (store: Parts) => void, what: RegExp]>([
    ['a token of an unknown project', ({ tokens }) => first(tokens, token => ({ ...token, project: 9 })), /project 9/],
    [
      'a truncated run',
      ({ subsets }) => first(subsets, run => ({ ...run, times: run.times.subarray(0, -3) })),
      /not a whole number of test files/,
    ],
    ['truncated weights', store => cut(store, queueId(store), 'weights', 80), /has other files than its list/],
    ['a name that cannot be read', store => void store.pathNames.put(store.paths.get('1/spec/a_spec.rb')!, 'spec'), /cannot be read/],
    ['a queue with two keys', store => void store.queuesOfNodeBuild.put('other', queueId(store)), /belongs to another key/],
    ['a file handed out twice', store => putBatch(store, { seq: 9, node_index: 1 }), /handed file \d+ out with batch 0, and with batch 9/],
    ['a batch of a node that does not exist', store => putBatch(store, { seq: 0, node_index: 4 }), /node 4 of 4/],
    ['a batch with a file that does not exist', store => putBatch(store, { seq: 9, files: [70] }), /file 70 of 70/],
    [
      'a block of files that cannot be read',
      store => void store.blobs.put([queueId(store), 0], Buffer.alloc(3000, '[')),
      /cannot be read: block 0 of [-\w]+ is damaged/,
    ],
    ['a truncated basis of estimates', store => cut(store, queueId(store), 'basis', 80), /of 80 bytes instead of 211/],
    [
      'a basis of estimates of a later Ballast',
      store => void store.blobs.put([splitId(store), 'basis'], Buffer.from([9, 0, 0])),
      /basis of estimates of version 9/,
    ],
    [
      'weights in disorder',
      store => void store.blobs.put([queueId(store), 'weights'], Buffer.from(new Float64Array(70).map((_, i) => i + 1).buffer)),
      /disorder/,
    ],
    ['a split of another list', ({ splits }) => first(splits, split => ({ ...split, list: LIST })), /other files than its list/],
    [
      'a queue of another list',
      store => void store.queues.put(queueId(store), { ...store.queues.get(queueId(store))!, list: LIST }),
      /other files than its list/,
    ],
    [
      'the files of a node on another one too',
      store => void store.blobs.put([splitId(store), 0], segment(encodeFiles(estimates(4), Uint32Array.of(0, 0, 2, 3)), 0)),
      /größe_0_spec.rb" twice/,
    ],
    ['truncated files of nodes', store => cut(store, splitId(store), 0, -5), /files for node 3 that cannot be read/],
    ['truncated ends of nodes', store => cut(store, splitId(store), 'nodeEnds', -1), /no files for node 3/],
    [
      'damaged ends of nodes',
      store => void store.blobs.put([splitId(store), 'nodeEnds'], Buffer.alloc(16, 1)),
      /files for node 0 that cannot be read: the ends of the nodes of [-\w]+ are damaged/,
    ],
  ])('with %s has a problem that cannot be repaired', async (_, damage, what) => {
    const store = filledStore();
    await commit(store, () => damage(store));
    const found = problemsIn(store);
    expect(found).toContainEqual(expect.objectContaining({ what: expect.stringMatching(what) as string, repair: null }));
    await repair(found);
    expect(problemsIn(store).length).toBe(found.length);
  });

  it('with problems in many tables says of which project each record is', async () => {
    const store = filledStore();
    await commit(store, () => {
      for (const name of ['expiry', 'buildIndex', 'ciRunsOfBuild', 'splits', 'forecasts', 'pathNames'])
        void tableOf(store, name).clearAsync();
      for (const id of store.queues.getKeys()) void store.queues.remove(id);
      first(store.subsets, run => ({ ...run, times: run.times.subarray(0, -3) }));
      first(store.tokens, token => ({ ...token, project: 9 }));
      void store.timings.put(1, encodeTimings({ project: 9, seen_at: NOW, timings: [] }));
      void store.timings.put(2, Buffer.from('damaged'));
    });
    const problems = problemsIn(store);
    const projectsIn = (name: string) => [...new Set(problems.filter(({ table }) => table === name).map(({ project }) => project))];
    const ofOne = [
      'builds',
      'buildIndex',
      'subsets',
      'paths',
      'queuesOfNodeBuild',
      'queuesOfBuild',
      'ciRuns',
      'days',
      'blobs',
      'batches',
      'splitRuns',
    ];
    expect(Object.fromEntries(ofOne.map(name => [name, projectsIn(name)]))).toEqual(Object.fromEntries(ofOne.map(name => [name, [1]])));
    expect(projectsIn('tokens')).toEqual([9]);
    expect(projectsIn('timings')).toEqual([9, null]);
  });

  it('with a split of hundreds of thousands of files per node is checked', async () => {
    const store = filledStore();
    const plan = estimates(150_000);
    const nodeEnds = Uint32Array.of(0, 0, 0, 150_000);
    await Promise.all(
      encodeParts({ files: encodeFiles(plan), basis: plan.basis, nodeEnds }).map(({ part, bytes }) =>
        store.blobs.put([splitId(store), part], bytes),
      ),
    );
    expect(problemsIn(store).map(({ what }) => what)).toEqual(['has other files than its list', expect.stringContaining('basis')]);
  });

  it('from which everything expired has no problems', async () => {
    const store = filledStore();
    await expire(store, NOW + 100 * DAY);
    expect(problemsIn(store)).toEqual([]);
    // Other steps of a sweep delete what else expires.
    expect(leftovers(store)).toEqual(['links', 'sessions', 'values', 'batchCosts', 'deliveries']);
  });
});

/** A few, from the first to the last. */
function sample<T>(all: readonly T[]): T[] {
  const step = Math.max(1, Math.floor(all.length / 3));
  return all.filter((_, i) => i % step === 0 || i === all.length - 1);
}

/** Changes the first record of a table, or puts the changed one under another key. */
function first<V>(
  table: { getRange(): Iterable<{ key: unknown; value: V }>; put(key: never, value: V): unknown },
  change: (value: V) => V,
  other?: unknown,
): void {
  for (const { key, value } of table.getRange()) {
    void table.put((other ?? key) as never, change(value));
    return;
  }
}

/** Keeps the first bytes of a blob; a negative number: all but the last ones. */
function cut({ blobs }: Parts, owner: string, part: EncodedPart['part'], bytes: number): void {
  void blobs.put([owner, part], blobs.get([owner, part])!.subarray(0, bytes));
}

/** Puts a later batch, the first one with these changes. */
function putBatch(store: Parts, changed: Partial<Batch>): void {
  const [batch] = batchesOf(store, queueId(store));
  void store.batches.put([queueId(store), 99], [encodeChange({ ...batch!, ...changed })]);
}
