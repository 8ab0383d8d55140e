import { divide } from '../../base/divide.js';
import type { Variant } from '../../protocol/answers/what-if.js';
import { drawsOf } from '../insight/what-if/deviations.js';
import type { Scenario } from '../insight/what-if/scenario.js';
import type { Candidate } from '../insight/what-if/what-if.js';
import type { Asker, JobRunner } from './job-runner.js';

/** Test files that a worker thread plays in one turn, over all variants: about 100 ms. */
export const PLAYED_FILES_PER_TURN = 250_000;

/**
 * Plays builds in the worker thread for people, in turns of about 100 ms. One turn runs at a time, and projects alternate. A client that
 * leaves ends its request before the next turn.
 */
export class WhatIfPlayer {
  constructor(readonly jobs: Pick<JobRunner, 'read' | 'assertRoom'>) {}

  /** Plays each number of nodes. Throws when too many such requests of the project wait. */
  async variants(scenario: Scenario, nodes: readonly number[], asker: Asker): Promise<Variant[]> {
    this.jobs.assertRoom('playVariants', asker);
    const variants: Variant[] = [];
    const draws = drawsOf(scenario.suite, scenario.deviations);
    for (const part of divide(nodes, PLAYED_FILES_PER_TURN, count => draws * costOf(scenario, count))) {
      variants.push(...(await this.jobs.read('playVariants', { scenario, nodes: part }, asker, { isUnderWay: true })));
    }
    return variants;
  }

  /** Plays a number of nodes with each file in pieces. Returns the wall times in seconds. */
  async cuts(scenario: Scenario, nodes: number, files: readonly Candidate[], asker: Asker): Promise<number[]> {
    const walls: number[] = [];
    for (const part of divide(files, PLAYED_FILES_PER_TURN, () => costOf(scenario, nodes))) {
      walls.push(...(await this.jobs.read('playCuts', { scenario, nodes, files: part }, asker, { isUnderWay: true })));
    }
    return walls;
  }
}

/** Cost of playing a number of nodes, in files: each pull looks at all nodes. */
function costOf({ suite }: Scenario, nodes: number): number {
  return suite.weights.length + nodes ** 2;
}
