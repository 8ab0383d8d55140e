import { describe, expect, it } from 'vitest';
import { type Faults, type Kind, type Receipt, type Run, World } from './world.js';

const SEEDS = 300;

const EVERYBODY: Kind[] = ['uuid', 'header', 'plain'];
const RETRYING: Kind[] = ['uuid', 'header'];

/** Runs the check with many worlds; says which seed failed. */
function inManyWorlds(check: (world: World) => void, seeds = SEEDS): void {
  for (let seed = 1; seed <= seeds; seed++) {
    try {
      check(new World(seed));
    } catch (error) {
      throw new Error(`seed ${seed}: ${(error as Error).message}`, { cause: error });
    }
  }
}

const build = (kinds: Kind[], faults: Faults, given: Partial<Run> = {}): Run => ({
  name: 'run-1',
  fixed: false,
  kinds,
  faults,
  ...given,
});

/** How often each file was received. */
function timesReceived(world: World, receipts: readonly Receipt[], late: readonly number[] = []): number[] {
  const times = new Array<number>(world.files).fill(0);
  for (const file of [...receipts.flatMap(({ files }) => files), ...late]) times[file]! += 1;
  return times;
}

const filesWith = (times: number[], wanted: (times: number) => boolean) => times.flatMap((count, file) => (wanted(count) ? [file] : []));

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

describe('a queue in a world without faults', () => {
  it('gives every file to exactly one node, whatever kind of client it is', () => {
    inManyWorlds(world => {
      const { receipts } = world.play(build(EVERYBODY, {}));
      expectExactlyOnce(timesReceived(world, receipts));
      expect(world.latecomer()).toEqual([]);
    });
  });

  it('repeats in every fixed run exactly what each node had', () => {
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
  it('receive every file exactly once though answers are lost', () => {
    inManyWorlds(world => {
      const { receipts } = world.play(build(['uuid'], { lost: 0.3 }));
      expectExactlyOnce(timesReceived(world, receipts));
    });
  });

  it('receive every file exactly once though they leave before their answers', () => {
    inManyWorlds(world => {
      const { receipts } = world.play(build(['uuid'], { leaves: 0.4 }));
      expectExactlyOnce(timesReceived(world, receipts));
    });
  });

  it('receive every file exactly once though the server is killed', () => {
    inManyWorlds(world => {
      const { receipts } = world.play(build(['uuid'], { crashes: 0.2 }));
      expectExactlyOnce(timesReceived(world, receipts));
    });
  });

  it('receive every file exactly once though answers are lost, they leave and the server is killed', () => {
    inManyWorlds(world => {
      const { receipts } = world.play(build(['uuid'], { lost: 0.15, leaves: 0.2, crashes: 0.1 }));
      expectExactlyOnce(timesReceived(world, receipts));
      expect(world.latecomer()).toEqual([]);
    });
  });
});

describe('clients that only count their retries', () => {
  it('receive every file exactly once though answers are lost', () => {
    inManyWorlds(world => {
      const { receipts } = world.play(build(RETRYING, { lost: 0.3 }));
      expectExactlyOnce(timesReceived(world, receipts));
    });
  });

  it('receive every file at least once, also beside others, though answers are lost and the server is killed', () => {
    inManyWorlds(world => {
      const { receipts } = world.play(build(RETRYING, { lost: 0.2, crashes: 0.1 }));
      expectAtLeastOnce(timesReceived(world, receipts));
    });
  });

  it('receive every file at least once though answers are lost, they leave and the server is killed', () => {
    inManyWorlds(world => {
      const { receipts } = world.play(build(RETRYING, { lost: 0.15, leaves: 0.2, crashes: 0.1 }));
      expectAtLeastOnce(timesReceived(world, receipts));
    });
  });
});

// Nobody can tell such a client's retry from its next pull: an answer that is lost after it was written is lost.
describe('clients that send nothing to tell a retry by', () => {
  it('receive every file at least once though the server is killed', () => {
    inManyWorlds(world => {
      const { receipts } = world.play(build(EVERYBODY, { crashes: 0.2 }));
      expectAtLeastOnce(timesReceived(world, receipts));
    });
  });

  it('receive every file exactly once though they leave before their answers', () => {
    inManyWorlds(world => {
      const { receipts } = world.play(build(['plain'], { leaves: 0.4 }));
      expectExactlyOnce(timesReceived(world, receipts));
    });
  });

  it('receive every file at least once though they leave and the server is killed', () => {
    inManyWorlds(world => {
      const { receipts } = world.play(build(['plain'], { leaves: 0.3, crashes: 0.15 }));
      expectAtLeastOnce(timesReceived(world, receipts));
    });
  });
});

describe('nodes that die', () => {
  it('before their answer leave every file to those who still ask', () => {
    inManyWorlds(world => {
      const { receipts } = world.play(build(EVERYBODY, { deaths: 0.15 }));
      expectExactlyOnce(timesReceived(world, receipts, world.latecomer()));
    });
  });

  it('before their answer leave every file to those who still ask, though others leave and come back', () => {
    inManyWorlds(world => {
      const { receipts } = world.play(build(EVERYBODY, { deaths: 0.1, leaves: 0.2 }));
      expectAtLeastOnce(timesReceived(world, receipts, world.latecomer()));
    });
  });

  it('take no more with them than what they were handed, whatever else fails', () => {
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

describe('a fixed split that is run again', () => {
  const wild: Faults = { lost: 0.15, leaves: 0.2, crashes: 0.1 };

  it('gives every file to exactly one node after a run in which everything failed', () => {
    inManyWorlds(world => {
      world.play(build(['uuid'], { ...wild, deaths: 0.1 }));
      const { receipts } = world.play(build(['uuid'], {}, { name: 'run-2', fixed: true }));
      expectExactlyOnce(timesReceived(world, receipts));
    });
  });

  it('gives each node first all that it had, though everything fails meanwhile', () => {
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

  it('gives all files to clients with a batch_uuid exactly once though everything but nodes fails meanwhile', () => {
    inManyWorlds(world => {
      world.play(build(['uuid'], { deaths: 0.1 }));
      const { receipts } = world.play(build(['uuid'], wild, { name: 'run-2', fixed: true }));
      expectExactlyOnce(timesReceived(world, receipts));
    });
  });

  it('gives every file to somebody also under the id of the CI build that failed', () => {
    inManyWorlds(world => {
      world.play(build(RETRYING, { ...wild, deaths: 0.2 }, { fixed: true }));
      const { receipts } = world.play(build(RETRYING, wild, { fixed: true }));
      expectAtLeastOnce(timesReceived(world, receipts));
    });
  });

  it('gives every file to clients with nothing to tell a retry by, though they leave and the server is killed', () => {
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
