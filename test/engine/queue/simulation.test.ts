import { describe, expect, it } from 'vitest';
import { type Faults, type Kind, type Receipt, type Run, World } from './world.js';

const SEEDS = 150;

const EVERYBODY: Kind[] = ['uuid', 'header', 'plain'];
const RETRYING: Kind[] = ['uuid', 'header'];

/** Runs the check in many worlds. An error names the seed. */
function inManyWorlds(check: (world: World) => void, seeds = SEEDS): void {
  for (let seed = 1; seed <= seeds; seed++) {
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

/** Returns how often each file was received. */
function timesReceived(world: World, receipts: readonly Receipt[], late: readonly number[] = []): number[] {
  const times = new Array<number>(world.files).fill(0);
  for (const file of [...receipts.flatMap(({ files }) => files), ...late]) times[file]! += 1;
  return times;
}

const filesWith = (times: number[], matches: (count: number) => boolean) => times.flatMap((count, file) => (matches(count) ? [file] : []));

function expectExactlyOnce(times: number[]): void {
  expect(
    filesWith(times, count => count !== 1),
    'files not received exactly once',
  ).toEqual([]);
}

function expectAtLeastOnce(times: number[]): void {
  expect(
    filesWith(times, count => count === 0),
    'files that nobody received',
  ).toEqual([]);
}

describe('a queue without faults', () => {
  it('gives every file to exactly one node, for all kinds of clients', () => {
    inManyWorlds(world => {
      const { receipts } = world.play(build(EVERYBODY, {}));
      expectExactlyOnce(timesReceived(world, receipts));
      expect(world.latecomer()).toEqual([]);
    });
  });

  it('repeats each node’s files in every fixed run', () => {
    inManyWorlds(world => {
      world.play(build(EVERYBODY, {}));
      for (const name of ['run-2', 'run-1', 'run-3']) {
        const had = world.handed();
        const { receipts } = world.play(build(EVERYBODY, {}, { name, fixed: true }));
        expectExactlyOnce(timesReceived(world, receipts));
        for (const { node, files } of receipts) expect(new Set(files)).toEqual(had.get(node));
      }
    });
  });
});

describe('clients that send a batch_uuid', () => {
  it('receive every file exactly once when answers are lost', () => {
    inManyWorlds(world => {
      const { receipts } = world.play(build(['uuid'], { lost: 0.3 }));
      expectExactlyOnce(timesReceived(world, receipts));
    });
  });

  it('receive every file exactly once when they leave before their answers', () => {
    inManyWorlds(world => {
      const { receipts } = world.play(build(['uuid'], { leaves: 0.4 }));
      expectExactlyOnce(timesReceived(world, receipts));
    });
  });

  it('receive every file exactly once when the server is killed', () => {
    inManyWorlds(world => {
      const { receipts } = world.play(build(['uuid'], { crashes: 0.2 }));
      expectExactlyOnce(timesReceived(world, receipts));
    });
  });

  it('receive every file exactly once when answers are lost, they leave and the server is killed', () => {
    inManyWorlds(world => {
      const { receipts } = world.play(build(['uuid'], { lost: 0.15, leaves: 0.2, crashes: 0.1 }));
      expectExactlyOnce(timesReceived(world, receipts));
      expect(world.latecomer()).toEqual([]);
    });
  });
});

describe('clients that only count their retries', () => {
  it('receive every file exactly once when answers are lost', () => {
    inManyWorlds(world => {
      const { receipts } = world.play(build(RETRYING, { lost: 0.3 }));
      expectExactlyOnce(timesReceived(world, receipts));
    });
  });

  it('receive every file at least once when answers are lost and the server is killed', () => {
    inManyWorlds(world => {
      const { receipts } = world.play(build(RETRYING, { lost: 0.2, crashes: 0.1 }));
      expectAtLeastOnce(timesReceived(world, receipts));
    });
  });

  it('receive every file at least once when answers are lost, they leave and the server is killed', () => {
    inManyWorlds(world => {
      const { receipts } = world.play(build(RETRYING, { lost: 0.15, leaves: 0.2, crashes: 0.1 }));
      expectAtLeastOnce(timesReceived(world, receipts));
    });
  });
});

// A retry of such a client looks like its next pull: an answer that is lost after it was written stays lost.
describe('clients that do not mark their retries', () => {
  it('receive every file at least once when the server is killed', () => {
    inManyWorlds(world => {
      const { receipts } = world.play(build(EVERYBODY, { crashes: 0.2 }));
      expectAtLeastOnce(timesReceived(world, receipts));
    });
  });

  it('receive every file exactly once when they leave before their answers', () => {
    inManyWorlds(world => {
      const { receipts } = world.play(build(['plain'], { leaves: 0.4 }));
      expectExactlyOnce(timesReceived(world, receipts));
    });
  });

  it('receive every file at least once when they leave and the server is killed', () => {
    inManyWorlds(world => {
      const { receipts } = world.play(build(['plain'], { leaves: 0.3, crashes: 0.15 }));
      expectAtLeastOnce(timesReceived(world, receipts));
    });
  });
});

describe('nodes that die', () => {
  it('before their answer leave every file to the other nodes', () => {
    inManyWorlds(world => {
      const { receipts } = world.play(build(EVERYBODY, { deaths: 0.15 }));
      expectExactlyOnce(timesReceived(world, receipts, world.latecomer()));
    });
  });

  it('before their answer leave every file to the other nodes, even if those leave and come back', () => {
    inManyWorlds(world => {
      const { receipts } = world.play(build(EVERYBODY, { deaths: 0.1, leaves: 0.2 }));
      expectAtLeastOnce(timesReceived(world, receipts, world.latecomer()));
    });
  });

  it('lose only the files that they were handed, with all other faults', () => {
    inManyWorlds(world => {
      const faults = { lost: 0.1, leaves: 0.15, deaths: 0.05, crashes: 0.1 };
      const { receipts, dead } = world.play(build(RETRYING, faults));
      const times = timesReceived(world, receipts, world.latecomer());
      const handed = world.handed();
      for (const node of dead) for (const file of handed.get(node) ?? []) times[file]! += 1;
      expectAtLeastOnce(times);
    });
  });
});

describe('a fixed split that is repeated', () => {
  const wild: Faults = { lost: 0.15, leaves: 0.2, crashes: 0.1 };

  it('gives every file to exactly one node after a run with all faults', () => {
    inManyWorlds(world => {
      world.play(build(['uuid'], { ...wild, deaths: 0.1 }));
      const { receipts } = world.play(build(['uuid'], {}, { name: 'run-2', fixed: true }));
      expectExactlyOnce(timesReceived(world, receipts));
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
      expectAtLeastOnce(timesReceived(world, receipts));
    });
  });

  it('gives every file exactly once to clients with a batch_uuid, with all faults but dying nodes', () => {
    inManyWorlds(world => {
      world.play(build(['uuid'], { deaths: 0.1 }));
      const { receipts } = world.play(build(['uuid'], wild, { name: 'run-2', fixed: true }));
      expectExactlyOnce(timesReceived(world, receipts));
    });
  });

  it('gives every file to a node when the id of the failed CI build is used again', () => {
    inManyWorlds(world => {
      world.play(build(RETRYING, { ...wild, deaths: 0.2 }, { fixed: true }));
      const { receipts } = world.play(build(RETRYING, wild, { fixed: true }));
      expectAtLeastOnce(timesReceived(world, receipts));
    });
  });

  it('gives every file to clients that do not mark their retries, when they leave and the server is killed', () => {
    inManyWorlds(world => {
      const faults = { leaves: 0.2, crashes: 0.1 };
      world.play(build(['plain'], { ...faults, deaths: 0.2 }, { fixed: true }));
      for (const name of ['run-1', 'run-2']) {
        const { receipts } = world.play(build(['plain'], faults, { name, fixed: true }));
        expectAtLeastOnce(timesReceived(world, receipts));
      }
    });
  });
});
