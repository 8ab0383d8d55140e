import { answering } from './answering.js';
import { Pulls, type PullsPlan } from './pulls.js';
import { Scattered, type ScatteredPlan } from './scattered.js';
import { Succession, type SuccessionPlan } from './succession.js';
import { type LoadOutcome, Tally } from './tally.js';

/** A worker process that puts loads on a server. Messages prepare, begin and end the loads. */

export type LoadPlan = PullsPlan | ScatteredPlan | SuccessionPlan;

export type LoadQuestion = { verb: 'prepare'; url: string; plans: LoadPlan[] } | { verb: 'begin' } | { verb: 'end' };

export interface Load {
  prepare(): Promise<void>;
  /** Starts the load: its answers count. May be called again after `end`. */
  begin(tally: Tally): void;
  /** Stops the load. Resolves when no request is in flight. */
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
