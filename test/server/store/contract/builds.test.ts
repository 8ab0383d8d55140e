import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type PieceName, piecePath } from '../../../../src/protocol/piece-path.js';
import { newestBuild } from '../../../../src/server/engine/builds.js';
import type { BuildFilter, BuildKey } from '../../../../src/server/engine/keys.js';
import type { Store } from '../../../../src/server/engine/ports/store.js';
import { BUILD, buildsOf, files, NOW, newProject, record, sweep } from './fixtures.js';
import { stores } from './stores.js';

const seed = 20_260_106;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

describe.each(stores)('builds in a store in $name', ({ open, opened }) => {
  it('are listed and counted, newest first, and those of the same instant by id', async () => {
    const { store, project } = await opened();
    const commits = Array.from({ length: 205 }, (_, i) => i);
    await Promise.all(commits.map(i => record(store, project, {}, { commit_hash: `c${i}`, at: NOW + Math.floor(i / 3) })));
    const pages = await Promise.all([0, 100, 200, 300].map(offset => store.builds.list(project, {}, { offset, limit: 100 })));
    expect(pages.map(({ length }) => length)).toEqual([100, 100, 5, 0]);
    expect(await store.builds.count(project, {})).toBe(205);
    const all = pages.flat();
    expect(all).toEqual([...all].sort((a, b) => b.created_at - a.created_at || (a.id < b.id ? -1 : 1)));
    expect(all.map(({ number }) => number)).toEqual([...all].map(({ number }) => number).sort((a, b) => b - a));
    expect(new Set(all.map(({ commit_hash }) => commit_hash)).size).toBe(205);
    for (const offset of [1, 97, 102, 103, 104, 200, 204, 205])
      expect(await store.builds.list(project, {}, { offset, limit: 7 })).toEqual(all.slice(offset, offset + 7));
  });

  it('are found by id and by key, within their project', async () => {
    const store = await open();
    const [project, other] = [await newProject(store), await newProject(store, 'other')];
    for (const owner of [project, other]) await record(store, owner, files(2));
    const [[ours], [theirs]] = [await buildsOf(store, project), await buildsOf(store, other)];
    expect(ours!.id).toMatch(UUID);
    expect(ours!.id).not.toBe(theirs!.id);
    expect([await store.builds.get(project, ours!.id), await store.builds.get(project, theirs!.id)]).toEqual([ours, null]);
    expect([await store.builds.find(project, BUILD), await store.builds.find(other, BUILD)]).toEqual([ours, theirs]);
    for (const part of [{ commit_hash: 'x' }, { branch: 'x' }, { node_total: 5 }])
      expect(await store.builds.find(project, { ...BUILD, ...part })).toBeNull();
    expect(await store.builds.get(project, 'no id')).toBeNull();
    expect([await buildsOf(store, project + other), await store.builds.count(project + other, {})]).toEqual([[], 0]);
  });

  it('are found newest first by any part of their key', async () => {
    const { store, project } = await opened();
    const keys: BuildKey[] = [
      { commit_hash: 'c1', branch: 'main', node_total: 2 },
      { commit_hash: 'c2', branch: 'main', node_total: 2 },
      { commit_hash: 'c3', branch: 'main', node_total: 4 },
      { commit_hash: 'c4', branch: 'next', node_total: 8 },
    ];
    for (const [i, key] of keys.entries()) await record(store, project, {}, { ...key, at: NOW + i });
    const newest = async (filter: BuildFilter) => (await newestBuild(store.builds, project, filter))?.commit_hash;
    expect(await newest(keys[0]!)).toBe('c1');
    expect(await newest({ branch: 'main', node_total: 2 })).toBe('c2');
    expect(await newest({ branch: 'main' })).toBe('c3');
    expect(await newest({})).toBe('c4');
    expect(await newest({ commit_hash: 'c4', branch: 'main' })).toBeUndefined();
    expect(await newestBuild(store.builds, project + 1, {})).toBeNull();
  });

  it('are listed from any number back, also from one that has expired', async () => {
    const { store, project } = await opened();
    const branchOf = (i: number) => (i % 3 === 0 ? 'next' : 'main');
    for (let i = 0; i < 30; i++) await record(store, project, {}, { commit_hash: `c${i}`, branch: branchOf(i), at: NOW + i });
    await sweep(store, NOW + 12);
    for (const filter of [{}, { branch: 'main' }, { branch: 'next', node_total: 4 }, { branch: 'none' }]) {
      const all = await store.builds.list(project, filter, { limit: 100 });
      expect(await store.builds.count(project, filter)).toBe(all.length);
      for (const limit of [1, 4, 100])
        expect(await store.builds.list(project, filter, { before: null, limit })).toEqual(all.slice(0, limit));
      const first = (await newestBuild(store.builds, project, {}))!.number;
      for (const before of [first + 9, first, first - 5, first - 17, first - 25, 0]) {
        const builds = all.filter(({ number }) => number < before);
        expect(await store.builds.list(project, filter, { before, limit: 4 })).toEqual(builds.slice(0, 4));
        expect(await store.builds.list(project, filter, { before, offset: 3, limit: 4 })).toEqual(builds.slice(3, 7));
      }
    }
  });

  it('have runs that are read by the numbers of their paths', async () => {
    const store = await open();
    const [project, other] = [await newProject(store), await newProject(store, 'other')];
    await record(store, other, { 'other_spec.rb': 1, 'a_spec.rb': 5 });
    await record(store, project, { 'b_spec.rb': 2, 'a_spec.rb': 3 });
    await record(store, project, { 'a_spec.rb': 4, 'größe_spec.rb': 0 }, { node_index: 1 });
    const { number } = (await buildsOf(store, project))[0]!;
    const read = await Promise.all((await store.builds.runs(number)).map(head => store.builds.times(number, head)));
    const named = (times: (typeof read)[number]) => Promise.all(Array.from(times!.paths, each => store.builds.path(each)));
    expect(await Promise.all(read.map(named))).toEqual([
      ['b_spec.rb', 'a_spec.rb'],
      ['a_spec.rb', 'größe_spec.rb'],
    ]);
    expect(read.map(times => [...times!.seconds])).toEqual([
      [2, 3],
      [4, 0],
    ]);
    expect(await store.builds.pathNumber(project, 'a_spec.rb')).toBe(read[0]!.paths[1]);
    expect(await store.builds.pathNumber(project, 'other_spec.rb')).toBeNull();
    expect(await store.builds.times(number, { node_index: 2, run: 1 })).toBeNull();
  });

  it.each(['spec/a_spec.rb', 'shop', '\n', 'größe\n_spec.rb', `${'long/'.repeat(80)}_spec.rb`])(
    'have pieces of a file that are found by the file, and with those of all others: %j',
    async file => {
      const store = await open();
      const [project, other] = [await newProject(store), await newProject(store, 'other')];
      const pieces = [1, 2].map(number => ({ file, number, count: 2 }));
      const times = (some: readonly PieceName[]) => Object.fromEntries(some.map(piece => [piecePath(piece), 1]));
      const others = ['other', `${file} 2`, `${file}::x`].map(name => ({ file: name, number: 1, count: 2 }));
      await record(store, project, { ...times(pieces), ...times(others), [file]: 1, [`${file}[1:1]`]: 1, '\nfile': 1 });
      await record(store, other, times([{ file, number: 1, count: 3 }]));
      const found = async (of: string | null) => {
        const recorded = await store.builds.pieces(project, of);
        expect(await Promise.all(recorded.map(({ path }) => store.builds.path(path)))).toEqual(recorded.map(piecePath));
        return recorded.map(piecePath).sort();
      };
      expect(await found(file)).toEqual(pieces.map(piecePath));
      expect(await found(null)).toEqual([...pieces, ...others].map(piecePath).sort());
      expect(await found('unknown')).toEqual([]);
    },
  );

  it('have runs that are read by node, and in parts', async () => {
    const { store, project } = await opened();
    for (const node_index of [2, 0, 2]) await record(store, project, files(10), { node_index });
    const { number } = (await buildsOf(store, project))[0]!;
    const heads = await store.builds.runs(number);
    expect(heads.map(({ node_index, run, ordinal }) => [node_index, run, ordinal])).toEqual([
      [0, 1, 2],
      [2, 1, 1],
      [2, 2, 3],
    ]);
    expect(await store.builds.runs(number, 2)).toEqual(heads.slice(1));
    expect(await store.builds.runs(number, 1)).toEqual([]);
    const whole = (await store.builds.run(number, heads[2]!))!;
    const part = { ...whole, paths: whole.paths.slice(3, 7), seconds: whole.seconds.slice(3, 7), outcomes: whole.outcomes.slice(3, 7) };
    expect(await store.builds.run(number, heads[2]!, 3, 7)).toEqual(part);
    expect(await store.builds.run(number, heads[2]!, 8)).toEqual({
      ...whole,
      paths: whole.paths.slice(8),
      seconds: whole.seconds.slice(8),
      outcomes: whole.outcomes.slice(8),
    });
    expect(await store.builds.run(number, { node_index: 2, run: 3 })).toBeNull();
    expect(await store.builds.runs(number + 1)).toEqual([]);
  });

  const recording = fc.record({
    project: fc.integer({ min: 0, max: 1 }),
    commit_hash: fc.constantFrom('c1', 'c2', 'c3'),
    branch: fc.constantFrom('main', 'next'),
    node_total: fc.constantFrom(2, 4),
    node_index: fc.constantFrom(0, 1),
    count: fc.integer({ min: 0, max: 3 }),
    after: fc.integer({ min: 0, max: 5 }),
  });
  const rounds = fc.array(fc.record({ recordings: fc.array(recording, { maxLength: 12 }), age: fc.integer({ min: 0, max: 40 }) }), {
    maxLength: 5,
  });
  type Known = BuildKey & { project: number; node_index: number; count: number; at: number };

  /** Compares the builds under every filter with a plain list of the runs that are kept. */
  async function expectSame(store: Store, projects: readonly number[], kept: readonly Known[]): Promise<void> {
    const nameOf = ({ commit_hash, branch, node_total }: BuildKey) => `${commit_hash} ${branch} ${node_total}`;
    for (const project of projects) {
      for (let bits = 0; bits < 8; bits++) {
        const filter = { ...(bits & 1 && { commit_hash: 'c1' }), ...(bits & 2 && { branch: 'main' }), ...(bits & 4 && { node_total: 2 }) };
        const isFound = (run: Known) => Object.entries(filter).every(([name, value]) => run[name as keyof BuildKey] === value);
        const runs = new Map<string, Known[]>();
        for (const run of kept) {
          if (run.project === project && isFound(run)) runs.set(nameOf(run), [...(runs.get(nameOf(run)) ?? []), run]);
        }
        const builds = await store.builds.list(project, filter, { limit: 100 });
        expect(await store.builds.count(project, filter)).toBe(runs.size);
        expect(builds.map(nameOf).sort()).toEqual([...runs.keys()].sort());
        for (const build of builds) {
          const own = runs.get(nameOf(build))!;
          const test_files = own.reduce((sum, { count }) => sum + count, 0);
          expect(build).toMatchObject({ project, subsets: own.length, test_files, updated_at: own.at(-1)!.at });
          expect((await store.builds.runs(build.number)).map(({ created_at }) => created_at).sort()).toEqual(own.map(({ at }) => at));
        }
      }
    }
    const builds = new Set(kept.map(run => `${run.project} ${nameOf(run)}`));
    expect((await store.maintenance.load()).records).toMatchObject({ build: builds.size, subset: kept.length });
  }

  it('are listed and counted like a plain list of their runs, after random recordings and sweeps', async () => {
    const store = await open();
    const projects = [await newProject(store), await newProject(store, 'other')];
    let now = NOW;
    await fc.assert(
      fc.asyncProperty(rounds, async all => {
        let kept: Known[] = [];
        for (const { recordings, age } of all) {
          const added = recordings.map(({ project, after, ...run }) => ({ ...run, project: projects[project]!, at: (now += after) }));
          await Promise.all(added.map(({ project, count, ...run }) => record(store, project, files(count), run)));
          kept.push(...added);
          await expectSame(store, projects, kept);
          await sweep(store, now - age);
          kept = kept.filter(({ at }) => at >= now - age);
          await expectSame(store, projects, kept);
        }
        await sweep(store, (now += 1));
      }),
      { seed, numRuns: 20 },
    );
  });
});
