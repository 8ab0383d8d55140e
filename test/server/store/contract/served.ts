import { digestOfList } from '../../../../src/protocol/list-digest.js';
import { type QueueKey, queueKey, type SplitKey, splitKey } from '../../../../src/server/engine/keys.js';
import { encodeCases } from '../../../../src/server/engine/pieces/case-report.js';
import { encodeCuts } from '../../../../src/server/engine/pieces/cuts.js';
import type { Store } from '../../../../src/server/engine/ports/store.js';
import type { TestFileList } from '../../../../src/server/engine/suites/compare-lists.js';
import { testEvent } from '../../../../src/server/engine/webhooks/event.js';
import { pathsOf } from '../../../harness/planned-paths.js';
import {
  BUILD,
  buildFailures,
  caseReport,
  DAY,
  estimates,
  NOW,
  newProject,
  newQueue,
  newSplit,
  pull,
  record,
  settle,
  sparedCiRun,
  summaryOf,
  sweep,
  upTo,
} from './fixtures.js';

/** When the store that `serve` filled went on. */
export const LATER = NOW + 5 * DAY;

export interface Served {
  project: number;
  /** A queue of 70 files, of which three nodes have some. */
  queue: QueueKey;
  /** A split that all CI runs of its build share. */
  split: SplitKey;
}

/**
 * Has a store serve for some days: projects, one of them deleted, builds of which some have expired, retried runs, test cases, names of any
 * characters, splits, an open queue and a copy of it, summaries, tokens, and people who signed in.
 */
export async function serve(store: Store): Promise<Served> {
  const project = await newProject(store, 'web');
  await newProject(store, 'api');
  const gone = await newProject(store, 'gone');
  const build = { ...BUILD, branch: 'größe\0' };
  for (const [i, commit_hash] of ['old', 'older', 'abc', 'abd'].entries()) {
    for (const node_index of [0, 1, 1]) {
      const paths = ['spec/a_spec.rb', `spec/${commit_hash}_spec.rb`, 'spec/b_spec.rb[1:2]', `${'long/'.repeat(200)}${node_index}.rb\0`];
      const times = Object.fromEntries(paths.map((path, at) => [path, at === 1 ? 0 : 1 + i]));
      await record(store, project, times, { ...build, commit_hash, node_index, at: NOW + i * DAY, ci_build_id: `${i}` });
    }
  }
  await record(store, gone, { 'gone_spec.rb': 1 });
  const split = splitKey(project, build, '', true);
  await store.splits.create(split, newSplit(split, listOf(4)), NOW + 3 * DAY);
  const second = splitKey(project, build, '2', true);
  await store.splits.use(second, (await store.splits.find(second))!, NOW + 3 * DAY);
  await store.splits.noteOtherList(second, (await store.splits.find(second))!, 'another list', NOW + 3 * DAY);
  const queue = queueKey(project, build, '1');
  const cuts = encodeCuts({ files: [] });
  await store.queues.create(queue, { ...newQueue(70, { ...listOf(70), pieces_for: 'pytest' }), cuts }, NOW + 3 * DAY);
  for (const node of upTo(3)) {
    const batch = await pull(store, queue, node, { isFirstRequest: true, batch_uuid: node === 0 ? 'a' : null }, NOW + 3 * DAY);
    await settle(store, queue, batch!, node < 2);
  }
  await store.maintenance.publish('queues');
  await store.queues.repeat(queueKey(project, build, '2'), NOW + 4 * DAY);
  await store.queues.noteOtherList((await store.queues.find(queue))!, 'another list');
  store.queues.learn(project, 'queue', [1, 2, 3, 4, 5, 6, 7, 8, 9, 1]);
  for (const known of await store.builds.all(0, 100)) {
    await store.summaries.put(known, summaryOf({ started_at: known.created_at }));
    await store.failures.put(known, buildFailures());
  }
  const unrecorded = { ...BUILD, commit_hash: 'unrecorded' };
  await store.queues.create(queueKey(project, unrecorded, '1'), newQueue(2, listOf(2)), NOW + 4 * DAY);
  for (const ciRun of await store.ciRuns.ofBuild(project, unrecorded)) await store.summaries.putUnrecorded(ciRun, summaryOf());
  const { id } = (await store.queues.find(queue))!;
  const links = { commit_url: 'https://git/{commit}', diff_url: null };
  const checkout = { tree: 'a'.repeat(40), doubt: 'größe\0.js is changed', keys: ['b'.repeat(64)] };
  await store.ciRuns.noteNodes(
    upTo(3).map(node_index => ({
      id,
      node_index,
      links: { job_url: `https://ci/größe/${node_index}`, ...links },
      checkout,
      command: 'c'.repeat(64),
    })),
  );
  await store.ciRuns.noteSpared((await store.ciRuns.get(project, id))!, sparedCiRun({ branch: 'größe\0' }));
  for (const key of ['sent', 'waiting'])
    await store.deliveries.add({ project, key, id: `id of ${key}`, event: testEvent('größe\0'), created_at: NOW + 4 * DAY }, 9);
  await store.deliveries.end({ project, key: 'sent' });
  for (const [i, file] of ['spec/a_spec.rb', 'größe\0_spec.rb'].entries())
    await store.cases.keep(
      project,
      encodeCases([caseReport({ file }), caseReport({ file, piece: { number: 1, count: 2 } })]),
      NOW + (i + 2) * DAY,
    );
  await signIn(store, project);
  await store.values.put('clock', NOW + 4 * DAY);
  await store.values.put('backup', NOW + 2 * DAY);
  await store.values.add('receipt_keys', { private: 'a key', retired: ['an older key'] });
  await store.values.add('given_receipt_keys', ['the key of a file']);
  await store.access.deleteProject(gone, NOW + 4 * DAY);
  await store.maintenance.publish('timings');
  await sweep(store, NOW + 1.5 * DAY);
  return { project, queue, split };
}

/** The list of so many estimates. */
export function listOf(files: number): TestFileList {
  return { digest: digestOfList(pathsOf(estimates(files))), test_files: files };
}

async function signIn({ access, signIns, values }: Store, project: number): Promise<void> {
  const hash = (letter: string) => letter.repeat(64);
  await access.createToken(project, { hash: hash('1'), name: 'größe' }, NOW);
  await access.createToken(project, { hash: hash('2'), name: null }, NOW);
  await access.useToken(hash('1'), NOW + DAY);
  await access.revokeToken(hash('2'), NOW + DAY);
  await access.setDefaultBranch(project, 'größe\0');
  const times = { created_at: NOW, used_at: NOW, ends_at: NOW + 30 * DAY };
  await values.put('password', { hash: hash('3'), salt: 'salt', cost: { N: 2, r: 1, p: 1 }, created_at: NOW });
  await signIns.createLink({ hash: hash('4'), project, created_at: NOW, expires_at: NOW + 9 * DAY });
  await signIns.createLink({ hash: hash('5'), project: null, created_at: NOW, expires_at: NOW + 9 * DAY });
  await signIns.createSession({ hash: hash('6'), project: null, origin: hash('3'), ...times }, 9);
  await signIns.createSession({ hash: hash('7'), project, origin: hash('4'), ...times }, 9);
  await values.put('address', 'https://ballast.example.com');
}
