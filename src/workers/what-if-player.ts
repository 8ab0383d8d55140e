import { apiErrors } from '../api-error.js';
import { drawsOf } from '../engine/insight/what-if/deviations.js';
import type { PreparedWhatIf, WhatIfSubject } from '../engine/insight/what-if/prepare-what-if.js';
import type { Outcome, Scenario } from '../engine/insight/what-if/scenario.js';
import type { LongFile } from '../engine/insight/what-if/what-if.js';
import { limits } from '../limits.js';
import { type Asker, assertRoom, lineOf } from './asker.js';
import { FairSemaphore } from './fair-semaphore.js';
import type { WorkerPool } from './pool.js';

/**
 * Plays builds in the worker thread for people, in turns of about 100 ms. One turn runs at a time, and projects alternate. A client that leaves ends its request before the next turn.
 */
export class WhatIfPlayer {
  readonly #turns = new FairSemaphore(1);

  constructor(readonly workers: Pick<WorkerPool, 'whatIf'>) {}

  /** Rejects with the error of `assertRoom` when too many such requests of the project wait. */
  async prepare(subject: WhatIfSubject, asker: Asker): Promise<PreparedWhatIf> {
    this.#assertRoom(asker);
    return this.#turn(asker, () => this.workers.whatIf('prepareWhatIf', subject, asker.hasLeft));
  }

  /** Plays each number of nodes. */
  async variants(scenario: Scenario, nodes: readonly number[], asker: Asker): Promise<Outcome[]> {
    this.#assertRoom(asker);
    const outcomes: Outcome[] = [];
    const draws = drawsOf(scenario.suite, scenario.deviations);
    for (const part of partsOf(nodes, count => draws * costOf(scenario, count))) {
      outcomes.push(...(await this.#turn(asker, () => this.workers.whatIf('playVariants', { scenario, nodes: part }, asker.hasLeft))));
    }
    return outcomes;
  }

  /** Plays a number of nodes with each file in pieces. Returns the wall times in seconds. */
  async cuts(scenario: Scenario, nodes: number, files: readonly LongFile[], asker: Asker): Promise<number[]> {
    const walls: number[] = [];
    for (const part of partsOf(files, () => costOf(scenario, nodes))) {
      walls.push(...(await this.#turn(asker, () => this.workers.whatIf('playCuts', { scenario, nodes, files: part }, asker.hasLeft))));
    }
    return walls;
  }

  #turn<T>(asker: Asker, work: () => Promise<T>): Promise<T> {
    return this.#turns.run(lineOf(asker), () => {
      if (asker.hasLeft()) throw apiErrors.clientLeft();
      return work();
    });
  }

  #assertRoom(asker: Asker): void {
    assertRoom(asker, this.#turns.waitingOf(lineOf(asker)), limits.waitingWhatIfsPerProject, 'too many builds are played at once');
  }
}

/** What it costs to play a number of nodes, in files: each pull looks at all nodes. */
function costOf({ suite }: Scenario, nodes: number): number {
  return suite.weights.length + nodes ** 2;
}

/** Divides a list into parts of about `limits.playedFilesPerTurn`. */
function partsOf<T>(list: readonly T[], costOfItem: (item: T) => number): T[][] {
  const parts: T[][] = [];
  let room = 0;
  for (const item of list) {
    const cost = costOfItem(item);
    if (room < cost) {
      parts.push([]);
      room = limits.playedFilesPerTurn;
    }
    parts.at(-1)!.push(item);
    room -= cost;
  }
  return parts;
}
