import type { Logger } from 'pino';
import type { Delivery } from '../engine/ports/deliveries.js';
import type { Millis, Store } from '../engine/ports/store.js';
import { LogThrottle } from '../http/log-throttle.js';
import { postToWebhook } from './webhook-request.js';

/** Interval at which what is due is looked for, and how many webhooks are sent to at a time. */
const DELIVERY_TICK_MILLISECONDS = 2000;
const DELIVERIES_AT_ONCE = 20;

/** From the beginning of an attempt to the next one. The first is longer than an attempt, so no two of a delivery are under way. */
const PAUSES = [15_000, 60_000, 300_000, 1_800_000, 7_200_000];

/**
 * Sends what waits for the webhooks of projects: of each project the oldest first, one at a time. One that is not taken is sent again after
 * growing pauses, and holds back those after it. Any number of processes share the work: whoever counts an attempt makes it. Nothing else
 * waits for a webhook.
 */
export class WebhookSender {
  /** Since the start: deliveries that were taken, attempts that failed, and deliveries that were given up. */
  readonly results = { delivered: 0, failed: 0, given_up: 0 };
  /** By project. */
  readonly #sending = new Map<number, Promise<void>>();
  readonly #throttle = new LogThrottle();
  readonly #closing = new AbortController();
  readonly #timer: NodeJS.Timeout;
  #looking: Promise<void> | null = null;

  /** @param now milliseconds since 1970 */
  constructor(
    readonly store: Pick<Store, 'access' | 'deliveries'>,
    readonly log: Logger,
    readonly now: () => Millis,
  ) {
    this.#timer = setInterval(() => void this.look(), DELIVERY_TICK_MILLISECONDS).unref();
  }

  /** Begins to send what is due. Resolves when all of that is under way. */
  look(): Promise<void> {
    this.#looking ??= this.#begin()
      .catch((err: unknown) => this.#report(err))
      .finally(() => {
        this.#looking = null;
      });
    return this.#looking;
  }

  /** Resolves when nothing is under way. */
  async settled(): Promise<void> {
    while (this.#looking || this.#sending.size > 0) await Promise.all([this.#looking, ...this.#sending.values()]);
  }

  /** Ends the requests under way. They are made again after a start. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    this.#closing.abort();
    await this.settled();
  }

  async #begin(): Promise<void> {
    // Some of them may be under way.
    const due = await this.store.deliveries.due(this.now(), DELIVERIES_AT_ONCE + this.#sending.size);
    for (const delivery of due) {
      const { project } = delivery;
      if (this.#closing.signal.aborted || this.#sending.has(project) || this.#sending.size >= DELIVERIES_AT_ONCE) continue;
      const sent = this.#send(delivery)
        .catch((err: unknown) => this.#report(err))
        .then(() => {
          this.#sending.delete(project);
          // The next one of the project may be due.
          if (!this.#closing.signal.aborted) void this.look();
        });
      this.#sending.set(project, sent);
    }
  }

  async #send(delivery: Delivery): Promise<void> {
    const { attempts } = delivery;
    const project = await this.store.access.project(delivery.project);
    // The address was unset, or the project deleted.
    if (!project || project.settings.webhook_url === null) return this.store.deliveries.end(delivery);
    const at = this.now();
    const pause = PAUSES[attempts] ?? PAUSES[0]!;
    if (!(await this.store.deliveries.attempt(delivery, at + pause))) return;
    const { webhook_url } = project.settings;
    // A process may have ended in the last attempt.
    const problem = attempts > PAUSES.length ? 'was tried before' : await this.#post({ ...project.settings, webhook_url }, delivery, at);
    if (this.#closing.signal.aborted && problem !== null) return;
    if (problem === null) {
      this.results.delivered += 1;
      return this.store.deliveries.end(delivery);
    }
    this.results.failed += 1;
    const facts = { project: project.name, event: delivery.event.event, delivery: delivery.id, attempts: attempts + 1, problem };
    if (attempts < PAUSES.length) return this.log.warn({ ...facts, again_in_seconds: pause / 1000 }, 'the webhook of a project failed');
    this.results.given_up += 1;
    this.log.error(facts, 'the webhook of a project failed, and the delivery is given up');
    await this.store.deliveries.end(delivery);
  }

  #post(...[settings, delivery, at]: Parameters<typeof postToWebhook>): Promise<string | null> {
    return postToWebhook(settings, delivery, at, this.#closing.signal);
  }

  #report(err: unknown): void {
    const times = this.#throttle.hit();
    if (times !== null && !this.#closing.signal.aborted) this.log.warn({ err, times }, 'could not look for what is to be sent to webhooks');
  }
}
