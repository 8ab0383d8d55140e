import { describe, expect, it } from 'vitest';
import { type Faults, type Kind, type Receipt, type Run, World } from './world.js';

const SEEDS = 150;

const EVERYBODY: Kind[] = ['uuid', 'header', 'plain'];
const RETRYING: Kind[] = ['uuid', 'header'];

/** Runs the check in many worlds. An error names the seed. */
function inManyWorlds(check: (world: World) => void): void {
  for (let seed = 1; seed <= SEEDS; seed++) {
    try {
      check(new World(seed));
    } catch (error) {
      throw new Error(`seed ${seed}: ${(error as Error).message}`, { cause: error });
    }
  }
}

const build = (kinds: Kind[], faults: Faults, overrides: Partial<Run> = {}): Run => ({
  name: 'run-1',
  fixed: false,
  kinds,
  faults,
  ...overrides,
});

/** Counts how often each file was received. */
function timesReceived(world: World, receipts: readonly Receipt[], late: readonly number[] = []): number[] {
  const times = new Array<number>(world.files).fill(0);
  for (const file of [...receipts.flatMap(({ files }) => files), ...late]) times[file]! += 1;
  return times;
}

type Often = 'exactly once' | 'at least once';

function expectReceived(times: readonly number[], often: Often): void {
  const isWrong = (count: number) => (often === 'exactly once' ? count !== 1 : count === 0);
  const wrong = times.flatMap((count, file) => (isWrong(count) ? [file] : []));
  expect(wrong, `files that were not received ${often}`).toEqual([]);
}

describe('a queue', () => {
  it.each<[often: Often, who: string, kinds: Kind[], faults: Faults]>([
    ['exactly once', 'all kinds of clients', EVERYBODY, {}],
    ['exactly once', 'clients that send a batch_uuid', ['uuid'], { lost: 0.3 }],
    ['exactly once', 'clients that send a batch_uuid', ['uuid'], { leaves: 0.4 }],
    ['exactly once', 'clients that send a batch_uuid', ['uuid'], { crashes: 0.2 }],
    ['exactly once', 'clients that send a batch_uuid', ['uuid'], { lost: 0.15, leaves: 0.2, crashes: 0.1 }],
    ['exactly once', 'clients that at least count their retries', RETRYING, { lost: 0.3 }],
    ['at least once', 'clients that at least count their retries', RETRYING, { lost: 0.2, crashes: 0.1 }],
    ['at least once', 'clients that at least count their retries', RETRYING, { lost: 0.15, leaves: 0.2, crashes: 0.1 }],
    // A retry that is not marked looks like the next pull: an answer that is lost after it was written stays lost.
    ['at least once', 'all kinds of clients', EVERYBODY, { crashes: 0.2 }],
    ['exactly once', 'clients that do not mark their retries', ['plain'], { leaves: 0.4 }],
    ['at least once', 'clients that do not mark their retries', ['plain'], { leaves: 0.3, crashes: 0.15 }],
  ])('gives every file %s to %s, with the faults %j', (often, _, kinds, faults) => {
    inManyWorlds(world => {
      const { receipts } = world.play(build(kinds, faults));
      expectReceived(timesReceived(world, receipts), often);
      if (often === 'exactly once') expect(world.latecomer()).toEqual([]);
    });
  });

  it.each<[Often, Faults]>([
    ['exactly once', { deaths: 0.15 }],
    ['at least once', { deaths: 0.1, leaves: 0.2 }],
  ])('gives every file %s to the other nodes when nodes die before their answer, with the faults %j', (often, faults) => {
    inManyWorlds(world => {
      const { receipts } = world.play(build(EVERYBODY, faults));
      expectReceived(timesReceived(world, receipts, world.latecomer()), often);
    });
  });

  it('loses only the files that dead nodes were handed, with all other faults', () => {
    inManyWorlds(world => {
      const faults = { lost: 0.1, leaves: 0.15, deaths: 0.05, crashes: 0.1 };
      const { receipts, dead } = world.play(build(RETRYING, faults));
      const times = timesReceived(world, receipts, world.latecomer());
      const handed = world.handed();
      for (const node of dead) for (const file of handed.get(node) ?? []) times[file]! += 1;
      expectReceived(times, 'at least once');
    });
  });
});

describe('a fixed split that is repeated', () => {
  const wild: Faults = { lost: 0.15, leaves: 0.2, crashes: 0.1 };
  const silent: Faults = { leaves: 0.2, crashes: 0.1 };

  it.each<[often: Often, when: string, first: Run, repeats: Run[]]>([
    [
      'exactly once',
      'after a run with all faults',
      build(['uuid'], { ...wild, deaths: 0.1 }),
      [build(['uuid'], {}, { name: 'run-2', fixed: true })],
    ],
    [
      'exactly once',
      'to clients with a batch_uuid, with all faults but dying nodes',
      build(['uuid'], { deaths: 0.1 }),
      [build(['uuid'], wild, { name: 'run-2', fixed: true })],
    ],
    [
      'at least once',
      'when the id of the failed CI build is used again',
      build(RETRYING, { ...wild, deaths: 0.2 }, { fixed: true }),
      [build(RETRYING, wild, { fixed: true })],
    ],
    [
      'at least once',
      'to clients that do not mark their retries, when they leave and the server is killed',
      build(['plain'], { ...silent, deaths: 0.2 }, { fixed: true }),
      ['run-1', 'run-2'].map(name => build(['plain'], silent, { name, fixed: true })),
    ],
  ])('gives every file %s %s', (often, _, first, repeats) => {
    inManyWorlds(world => {
      world.play(first);
      for (const run of repeats) expectReceived(timesReceived(world, world.play(run).receipts), often);
    });
  });

  it('gives each node its files, without faults', () => {
    inManyWorlds(world => {
      world.play(build(EVERYBODY, {}));
      for (const name of ['run-2', 'run-1', 'run-3']) {
        const had = world.handed();
        const { receipts } = world.play(build(EVERYBODY, {}, { name, fixed: true }));
        expectReceived(timesReceived(world, receipts), 'exactly once');
        for (const { node, files } of receipts) expect(new Set(files)).toEqual(had.get(node));
      }
    });
  });

  it('gives each node all its files first, even with all faults', () => {
    inManyWorlds(world => {
      world.play(build(RETRYING, { ...wild, deaths: 0.1 }));
      const had = world.handed();
      const { receipts } = world.play(build(RETRYING, wild, { name: 'run-2', fixed: true }));
      for (const { node, files, isFirst } of receipts) {
        if (isFirst && had.has(node)) expect(new Set(files)).toEqual(had.get(node));
      }
      expectReceived(timesReceived(world, receipts), 'at least once');
    });
  });
});
