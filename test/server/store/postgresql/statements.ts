import pg from 'pg';
import { noSettings } from '../../../../src/protocol/project-settings.js';
import { newestBuild } from '../../../../src/server/engine/builds.js';
import { splitKey } from '../../../../src/server/engine/keys.js';
import type { Store } from '../../../../src/server/engine/ports/store.js';
import { suiteOf } from '../../../../src/server/engine/suites/suite.js';
import { BUILD, DAY, estimates, NOW, newSplit, sweep } from '../contract/fixtures.js';
import { LATER, serve } from '../contract/served.js';

/** A statement, with the values with which it last ran. */
export interface Statement {
  text: string;
  values: unknown[];
  /** Its plan is kept. */
  isPrepared: boolean;
}

/** Runs work, and returns the statements that it ran, each once. */
export async function statementsOf(work: () => Promise<void>): Promise<Statement[]> {
  const all = new Map<string, Statement>();
  const { query } = pg.Client.prototype as { query: (...values: unknown[]) => unknown };
  const noted = function (this: pg.Client, ...values: unknown[]) {
    const [{ name, text, values: own = [] }] = values as [{ name?: string; text: string; values?: unknown[] }];
    if (/^\s*(select|with|insert|update|delete)/.test(text)) {
      all.set(text, { text, values: own, isPrepared: name !== undefined || all.get(text)?.isPrepared === true });
    }
    return query.apply(this, values);
  };
  Object.assign(pg.Client.prototype, { query: noted });
  await work().finally(() => Object.assign(pg.Client.prototype, { query }));
  return [...all.values()];
}

/** The same store, and the functions of its ports that were not called yet. */
export function watched(store: Store): { store: Store; uncalled: () => string[] } {
  const uncalled = new Set<string>();
  const watch = (group: string, port: object): object => {
    const values = port as Record<string, unknown>;
    const names = [...Object.keys(port), ...Object.getOwnPropertyNames(Object.getPrototypeOf(port))];
    for (const name of names)
      if (typeof values[name] === 'function' && name !== 'close' && !(name in Object.prototype)) uncalled.add(`${group}.${name}`);
    const processes = values.processes && watch('processes', values.processes);
    const get = (_: object, name: string) => {
      uncalled.delete(`${group}.${name}`);
      if (name === 'processes') return processes;
      const value = values[name];
      return typeof value === 'function' ? value.bind(port) : value;
    };
    return new Proxy(port, { get: get as never });
  };
  const groups = Object.entries(store).map(([group, port]) => {
    const isPort = typeof port === 'object' && group !== 'database';
    return [group, isPort ? watch(group, port as object) : port];
  });
  return { store: Object.fromEntries(groups) as Store, uncalled: () => [...uncalled] };
}

/** Asks a store that served for all that can be asked, of one project, whose number it returns. */
export async function readAll(store: Store): Promise<number> {
  const { access, signIns, values, builds, timings, plans, splits, queues, ciRuns, summaries, failures, deliveries, cases, maintenance } =
    store;
  const { project, queue, split } = await serve(store);
  for (const name of ['projects', 'tokens'] as const) await access[name]();
  await access.project('web');
  await access.project(project);
  await access.token('hash of web');
  access.knownToken('hash of web');
  await access.replaceSettings(project, noSettings, noSettings);
  await access.createPublicToken(project, { hash: 'hash of forks', name: null }, NOW);
  await access.renameProject(project, 'web site');
  for (const name of ['links', 'sessions'] as const) await signIns[name]();
  const [hash, secret] = ['4'.repeat(64), '7'.repeat(64)];
  await signIns.link(hash);
  await signIns.session(secret);
  await signIns.useSession(secret, NOW);
  await signIns.deleteSession(secret);
  await signIns.deleteLink(hash);
  await values.get('password');
  await values.add('receipt_keys', { private: '', retired: [] });
  for (const name of ['password', 'address', 'receipt_keys'] as const) await values.put(name, null);
  await signIns.deleteEnded(NOW, NOW);
  for (const filter of [{}, { branch: 'main' }, { commit_hash: 'abc' }, { node_total: 4 }, BUILD, { branch: 'main', node_total: 4 }]) {
    // What was counted before is not counted again.
    for (let times = 0; times < 2; times++) await builds.count(project, filter);
    for (const part of [
      { offset: 100, limit: 100 },
      { before: 9, limit: 10 },
    ])
      await builds.list(project, filter, part);
  }
  const build = (await newestBuild(builds, project, {}))!;
  await builds.get(project, build.id);
  await builds.find(project, build);
  await builds.runs(build.number, 0);
  const [run] = await builds.runs(build.number);
  await builds.run(build.number, run!);
  const { paths } = (await builds.times(build.number, run!))!;
  await builds.path(paths[0]!);
  await builds.pathNumber(project, 'spec/a_spec.rb');
  plans.encode(estimates(3));
  await timings.estimates(project, 'main', suiteOf(['spec/a_spec.rb', 'spec/b_spec.rb', 'spec/new_spec.rb']), 10);
  await timings.ofPaths(project, 'main', paths);
  await timings.cases(project, 'main', 'spec/b_spec.rb');
  await timings.measuredOn(project, 'main', ['spec/a_spec.rb', 'spec/b_spec.rb']);
  await timings.all(0, 10);
  const found = (await splits.find(split))!;
  await splits.firstUse(found, '2');
  await splits.use(split, found, LATER);
  await plans.files(found.id, 0);
  const own = splitKey(project, BUILD, '3', false);
  await splits.noteOtherList(own, await splits.create(own, newSplit(own), LATER), 'another list', LATER);
  await queues.newest(project, BUILD);
  const { id } = (await queues.find(queue))!;
  await plans.files(id, [0]);
  for (const name of ['forecast', 'basis', 'weights', 'cuts', 'first'] as const) await plans.part(id, name);
  for (const name of ['batches', 'copiedBatches', 'revision'] as const) await queues[name](id);
  await queues.heardElsewhere(id);
  await queues.learned(project, 'queue');
  queues.load();
  await queues.update(
    queue,
    () => null,
    () => ({ value: null, changes: [] }),
    LATER,
  );
  const [ciRun] = await ciRuns.list(project, LATER, 10);
  await ciRuns.get(project, ciRun!.id);
  await ciRuns.nodes(ciRun!.id);
  await ciRuns.ofTree(project, 'a'.repeat(40), 9);
  await ciRuns.spared(ciRun!.id);
  await ciRuns.newest(project, [build, { ...build, branch: 'next' }]);
  await failures.newest(project, 10);
  await failures.of(build);
  await summaries.get(build.number);
  await summaries.ofBuilds([build.number, build.number + 1]);
  await summaries.unrecorded(project, { from: NOW, before: LATER }, 10);
  await summaries.ofUnrecorded(ciRun!);
  await summaries.days(project, null, 0, 30_000);
  for (const file of ['spec/a_spec.rb', null]) await builds.pieces(project, file);
  for (const file of ['spec/a_spec.rb', 'größe\0_spec.rb']) await cases.of(project, file, 1e6);
  const [due] = await deliveries.due(LATER, 10);
  await deliveries.attempt(due!, LATER);
  await deliveries.known(project, ['sent', 'waiting']);
  await deliveries.forget(project, ['sent']);
  await maintenance.probe(NOW);
  await maintenance.load();
  await maintenance.publish('runs');
  for (const name of ['refresh', 'assertWritable'] as const) await maintenance[name]();
  const processes = maintenance.processes!;
  await processes.publish('{}');
  await processes.others(NOW);
  await processes.leave();
  return project;
}

/** Deletes all that served, and then the project. */
export async function deleteAll(store: Store, project: number): Promise<void> {
  await sweepAll(store);
  await store.access.deleteProject(project, NOW);
  await sweepAll(store);
}

/** Deletes all that served. */
export async function sweepAll(store: Store): Promise<void> {
  await sweep(store, NOW + 90 * DAY, LATER);
}
