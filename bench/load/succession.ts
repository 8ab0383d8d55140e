import { setTimeout as sleep } from 'node:timers/promises';
import { Connections, check } from './connections.js';
import type { Load } from './loader.js';
import { FILES_IN_ANSWER, RECORDING } from './messages.js';
import { type Initialized, initialized, initializing, recordAll, recordings } from './suite-bodies.js';
import type { Tally } from './tally.js';
import type { Template } from './template.js';

/** Requests with large suites, in sequence over one connection, each for a new build. */
export interface SuccessionPlan {
  kind: 'succession';
  what: Initialized | 'recording';
  files: number;
  nodes: number;
  /** Between an answer and the next request. */
  pauseMilliseconds: number;
}

/** Files of one recording. */
const RECORDED_EACH = 5000;

export class Succession implements Load {
  readonly #connections: Connections;
  readonly #templates: Template[];
  #sent = 0;
  #stopping = new AbortController();
  #done: Promise<void> = Promise.resolve();

  constructor(
    url: string,
    readonly plan: SuccessionPlan,
  ) {
    this.#connections = new Connections(url, 1);
    const { what, files, nodes } = plan;
    this.#templates = what === 'recording' ? recordings(files, RECORDED_EACH) : [initializing(what, files, nodes)];
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
        tally.answered(await this.#send(what));
      } catch (error) {
        tally.failed(error);
        // The pause avoids a busy loop when the server is gone.
        await sleep(100);
      }
      if (pauseMilliseconds > 0) await sleep(pauseMilliseconds, null, { signal }).catch(() => {});
    }
  }

  async #send(what: SuccessionPlan['what']): Promise<number> {
    // `prepare` used round 0.
    const round = 1 + Math.floor(this.#sent / this.#templates.length);
    const body = this.#templates[this.#sent++ % this.#templates.length]!.of(round);
    const answer = await this.#connections.post(what === 'recording' ? RECORDING : initialized[what], body);
    if (what === 'recording') check(answer, 201);
    else check(answer, 200, FILES_IN_ANSWER);
    return answer.milliseconds;
  }
}
