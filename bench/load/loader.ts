import { answering } from './answering.js';
import { Pulls, type PullsPlan } from './pulls.js';
import { Scattered, type ScatteredPlan } from './scattered.js';
import { Succession, type SuccessionPlan } from './succession.js';
import { type LoadOutcome, Tally } from './tally.js';

/** A process that puts loads on a server: it is asked in turn to prepare, to begin and to end them. */

export type LoadPlan = PullsPlan | ScatteredPlan | SuccessionPlan;

export type LoadQuestion = { verb: 'prepare'; url: string; plans: LoadPlan[] } | { verb: 'begin' } | { verb: 'end' };

export interface Load {
  prepare(): Promise<void>;
  /** From here on answers count. May follow an `end`. */
  begin(tally: Tally): void;
  /** Resolves when nothing is on its way any more. */
  end(): Promise<void>;
}

function toLoad(url: string, plan: LoadPlan): Load {
  switch (plan.kind) {
    case 'pulls':
      return new Pulls(url, plan);
    case 'scattered':
      return new Scattered(url, plan);
    case 'succession':
      return new Succession(url, plan);
  }
}

let running: { load: Load; tally: Tally }[] = [];
let loads: Load[] = [];

answering<LoadQuestion, LoadOutcome[] | null>(async question => {
  switch (question.verb) {
    case 'prepare':
      loads = question.plans.map(plan => toLoad(question.url, plan));
      for (const load of loads) await load.prepare();
      return null;
    case 'begin':
      running = loads.map(load => ({ load, tally: new Tally() }));
      for (const { load, tally } of running) load.begin(tally);
      return null;
    case 'end':
      await Promise.all(loads.map(load => load.end()));
      return running.map(({ tally }) => tally.outcome());
  }
});
