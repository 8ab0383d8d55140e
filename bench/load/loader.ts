import { RandomPulls, type RandomPullsPlan } from './random-pulls.js';
import { SequentialLoad, type SequentialPlan } from './sequential-load.js';
import { SteadyPulls, type SteadyPullsPlan } from './steady-pulls.js';
import { type LoadOutcome, Tally } from './tally.js';
import { answerMessages } from './worker-messages.js';

/** A worker process that puts loads on a server. Messages prepare, begin and end the loads. */

export type LoadPlan = SteadyPullsPlan | RandomPullsPlan | SequentialPlan;

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
      return new SteadyPulls(url, plan);
    case 'scattered':
      return new RandomPulls(url, plan);
    case 'succession':
      return new SequentialLoad(url, plan);
  }
}

let running: { load: Load; tally: Tally }[] = [];
let loads: Load[] = [];

answerMessages<LoadQuestion, LoadOutcome[] | null>(async question => {
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
