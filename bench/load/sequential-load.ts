import { setTimeout as sleep } from 'node:timers/promises';
import { Connections, expectAnswer } from './connections.js';
import type { Load } from './loader.js';
import { FILES_IN_ANSWER, RECORDING } from './messages.js';
import { initializeTemplate, type PlanKind, planPaths, recordAll, recordingTemplates } from './suite-bodies.js';
import type { Tally } from './tally.js';
import type { Template } from './template.js';

/** Requests with large suites, in sequence over one connection, each for a new build. */
export interface SequentialPlan {
  kind: 'succession';
  what: PlanKind | 'recording';
  files: number;
  nodes: number;
  /** Between an answer and the next request. */
  pauseMilliseconds: number;
}

/** Files of one recording. */
const RECORDED_EACH = 5000;

export class SequentialLoad implements Load {
  readonly #connections: Connections;
  readonly #templates: Template[];
  #sent = 0;
  #stopping = new AbortController();
  #done: Promise<void> = Promise.resolve();

  constructor(
    url: string,
    readonly plan: SequentialPlan,
  ) {
    this.#connections = new Connections(url, 1);
    const { what, files, nodes } = plan;
    this.#templates = what === 'recording' ? recordingTemplates(files, RECORDED_EACH) : [initializeTemplate(what, files, nodes, 'same')];
  }

  /** Records the files, so that initialisations find known times. */
  async prepare(): Promise<void> {
    if (this.plan.what !== 'recording') await recordAll(this.#connections, this.plan.files);
  }

  begin(tally: Tally): void {
    this.#stopping = new AbortController();
    this.#done = this.#run(tally);
  }

  async end(): Promise<void> {
    this.#stopping.abort();
    await this.#done;
  }

  async #run(tally: Tally): Promise<void> {
    const { what, pauseMilliseconds } = this.plan;
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      try {
        tally.recordAnswer(await this.#send(what));
      } catch (error) {
        tally.recordFailure(error);
        // The pause avoids a busy loop when the server is gone.
        await sleep(100);
      }
      if (pauseMilliseconds > 0) await sleep(pauseMilliseconds, null, { signal }).catch(() => {});
    }
  }

  async #send(what: SequentialPlan['what']): Promise<number> {
    // `prepare` used round 0.
    const round = 1 + Math.floor(this.#sent / this.#templates.length);
    const body = this.#templates[this.#sent++ % this.#templates.length]!.body(round);
    const answer = await this.#connections.post(what === 'recording' ? RECORDING : planPaths[what], body);
    if (what === 'recording') expectAnswer(answer, 201);
    else expectAnswer(answer, 200, FILES_IN_ANSWER);
    return answer.milliseconds;
  }
}
