import { describe, expect, it } from 'vitest';
import { queueKey } from '../../../../src/server/engine/keys.js';
import { encodeCases } from '../../../../src/server/engine/pieces/case-report.js';
import type { Store } from '../../../../src/server/engine/ports/store.js';
import { BUILD, caseReport, DAY, NOW, newProject, newQueue, sweep } from './fixtures.js';
import { stores } from './stores.js';

const FILE = 'spec/größe\n_spec.rb';
const piece = (number: number) => caseReport({ file: FILE, piece: { number, count: 2 } });
/** Records of the file, as texts. */
const kept = async ({ cases }: Store, project: number, file = FILE) =>
  (await cases.of(project, file, 1e9))!.kept.map(report => `${report.piece?.number ?? 'whole'} of ${report.ci_run}`);

it.each(stores)('a queue in a store in $name keeps its cuts, and a copy has them, too', async ({ opened }) => {
  const { store, project } = await opened();
  const cuts = new TextEncoder().encode('{"files":[]}');
  const [own, copy, other] = ['1', '2', '3'].map(run => queueKey(project, { ...BUILD, node_total: run === '3' ? 9 : 2 }, run));
  await store.queues.create(own!, { ...newQueue(3), cuts }, NOW);
  await store.queues.repeat(copy!, NOW);
  await store.queues.create(other!, newQueue(3), NOW);
  const kept = await Promise.all([own, copy, other].map(async key => store.plans.part((await store.queues.find(key!))!.id, 'cuts')));
  expect(kept.map(bytes => bytes && Buffer.from(bytes).toString())).toEqual(['{"files":[]}', '{"files":[]}', null]);
});

describe.each(stores)('cases in a store in $name', ({ open, opened }) => {
  it('are kept of a file and of its pieces, as they were reported last', async () => {
    const { store, project } = await opened();
    const whole = caseReport({ file: FILE });
    await store.cases.keep(project, encodeCases([whole, piece(1)]), NOW);
    await store.cases.keep(project, encodeCases([piece(2), { ...piece(1), ci_run: 'other' }]), NOW + 1);
    await store.cases.keep(project, encodeCases([]), NOW);
    expect(await store.cases.of(project, 'unknown', 0)).toEqual({ kept: [], bytes: 0 });
    const now = [whole, { ...piece(1), ci_run: 'other' }, piece(2)];
    const bytes = now.reduce((sum, report) => sum + Buffer.byteLength(JSON.stringify(report)), 0);
    expect(await store.cases.of(project, FILE, bytes)).toEqual({
      kept: now.map((report, i) => ({ ...report, at: i > 0 ? NOW + 1 : NOW })),
      bytes,
    });
    expect(await store.cases.of(project, FILE, bytes - 1)).toBeNull();
  });

  it('in names of reports are kept beside those that a runner knows', async () => {
    const { store, project } = await opened();
    const [named, reported] = ['named', 'reported'].map(ci_run =>
      caseReport({ file: FILE, ci_run, runner: ci_run === 'named' ? 'pytest' : null }),
    );
    await store.cases.keep(project, encodeCases([named!]), NOW);
    await store.cases.keep(project, encodeCases([reported!]), NOW);
    expect((await kept(store, project)).toSorted()).toEqual(['whole of named', 'whole of reported']);
  });

  it('are kept of many and large files', async () => {
    const { store, project } = await opened();
    const cases = Array.from({ length: 500 }, (_, i) => ({ name: `${i}`.padEnd(200), seconds: 1, outcomes: { passed: 1 } }));
    const report = Array.from({ length: 12 }, (_, i) => caseReport({ file: `${i}`, cases: i % 3 === 0 ? cases : cases.slice(0, i) }));
    await store.cases.keep(project, encodeCases(report), NOW);
    for (const one of report) expect(await store.cases.of(project, one.file, 2_000_000)).toMatchObject({ kept: [{ ...one, at: NOW }] });
  });

  it('of a file that is reported twice at once are those that come last', async () => {
    const { store, project } = await opened();
    await store.cases.keep(project, encodeCases([piece(1), { ...piece(1), ci_run: 'last' }]), NOW);
    expect(await kept(store, project)).toEqual(['1 of last']);
  });

  it('of a file and of each piece expire when they were reported long ago, and go with their project', async () => {
    const store = await open();
    const [own, gone] = [await newProject(store), await newProject(store, 'gone')];
    await store.cases.keep(own, encodeCases([caseReport({ file: 'old' })]), NOW - 1);
    await store.cases.keep(own, encodeCases([caseReport({ file: FILE })]), NOW - 2);
    await store.cases.keep(own, encodeCases([piece(1)]), NOW);
    await store.cases.keep(gone, encodeCases([piece(1)]), NOW);
    await store.access.deleteProject(gone, NOW);
    await store.cases.keep(gone, encodeCases([piece(2)]), NOW);
    await sweep(store, NOW, NOW + DAY);
    expect(await kept(store, own, 'old')).toEqual([]);
    expect(await kept(store, own)).toEqual(['1 of run']);
    expect(await kept(store, gone)).toEqual([]);
    await sweep(store, NOW + DAY, NOW + DAY);
    expect(await kept(store, own)).toEqual([]);
  });
});
