import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { WEBHOOK_EVENTS, type WebhookEventName } from '../../protocol/project-settings.js';
import type { JobRunner } from '../api/job-runner.js';
import { digest, type ProjectBuild } from '../engine/keys.js';
import type { Project } from '../engine/ports/access.js';
import type { Millis, Store } from '../engine/ports/store.js';
import { EventWriter, type FlakyFile, type NoticedIn, type SlowNode, type WebhookEvent } from '../engine/webhooks/event.js';
import { LogThrottle } from '../http/log-throttle.js';
import type { SummarizedBuild } from '../insight/trends/build-summary.js';
import type { NewlyGrown } from '../insight/trends/flags.js';
import { SUMMARY_PAUSE_FACTOR } from '../insight/trends/summary.js';

/** Events on grown files, and on flaky ones, that one look at the newest builds makes; the next looks make the others. */
const FILES_PER_LOOK = 5;
/** The events that a look at the newest builds of the default branch makes. */
const LOOKED_FOR = ['file_grew', 'runner_slow', 'became_flaky'] as const;
/** An incomplete CI run that began longer ago makes no event: its summary is only written later. */
export const OLDEST_RUN_MILLISECONDS = 86_400_000;
/** Projects that wait for a look at their newest builds; beyond it the next build has it made. */
const WAITING_LOOKS = 1000;
/** Events that may wait to be sent to the webhook of a project; beyond this number the oldest is dropped. */
export const WAITING_DELIVERIES_PER_PROJECT = 100;

/** A build that ended, whose trends are to be looked at. */
interface Look extends NoticedIn {
  project: number;
  node_total: number;
}

/** Makes the events of projects that set a webhook. Each fact in summaries of builds makes one event, however often a summary is written. */
export class WebhookEvents {
  /** Deliveries that were dropped since the start, because too many waited. */
  dropped = 0;
  /** By project and number of nodes. A later build replaces one that waits. */
  readonly #waiting = new Map<string, Look>();
  readonly #throttle = new LogThrottle();
  readonly #closing = new AbortController();
  #looking: Promise<void> | null = null;

  /**
   * @param now milliseconds since 1970
   * @param publicUrl of the pages; null: it is not known
   * @param added called when a delivery may wait
   */
  constructor(
    readonly store: Pick<Store, 'access' | 'deliveries'>,
    readonly jobs: Pick<JobRunner, 'read'>,
    readonly log: Logger,
    readonly now: () => Millis,
    readonly publicUrl: string | null,
    readonly added: () => void,
  ) {}

  /** Notes what the new summary of a build says. Resolves when a failed gate is in the store; trends are looked at later. */
  async summarized(build: ProjectBuild, { recorded, ciRun, summary, losses }: SummarizedBuild): Promise<void> {
    const id = recorded?.id ?? ciRun?.id;
    if (summary.state === 'running' || id === undefined) return;
    const project = await this.store.access.project(build.project);
    if (!project || project.settings.webhook_url === null) return;
    const { branch, commit_hash, node_total } = build;
    const { missing, files } = summary.line;
    // Who cancels a build knows that files are missing.
    const isLost = losses !== null && summary.state !== 'cancelled';
    if (ciRun && isLost && wants(project, 'gate_failed') && ciRun.created_at >= this.now() - OLDEST_RUN_MILLISECONDS) {
      const event = this.#writer(project).gateFailed({ id, branch, commit_hash }, { missing, files, losses });
      await this.#add(project, `gate_failed ${ciRun.id}`, event);
    }
    if (branch !== project.default_branch || !LOOKED_FOR.some(event => wants(project, event))) return;
    const key = `${project.id} ${node_total}`;
    if (this.#waiting.size >= WAITING_LOOKS && !this.#waiting.has(key)) return;
    this.#waiting.set(key, { project: project.id, id, branch, commit_hash, node_total });
    this.#looking ??= this.#lookAll().finally(() => {
      this.#looking = null;
    });
  }

  /** Resolves when no build waits. */
  async settled(): Promise<void> {
    while (this.#looking) await this.#looking;
  }

  /** Stops after the look under way. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.settled();
  }

  async #lookAll(): Promise<void> {
    for (const [key, look] of this.#waiting) {
      this.#waiting.delete(key);
      if (this.#closing.signal.aborted) return;
      const begun = performance.now();
      await this.#look(look).catch((err: unknown) => {
        const times = this.#throttle.hit();
        if (times !== null)
          this.log.warn({ err, times }, 'could not look for files that grew, slow nodes and flaky files; the next build repeats it');
      });
      // As summaries do.
      if (this.#waiting.size === 0) return;
      const pause = SUMMARY_PAUSE_FACTOR * (performance.now() - begun);
      await sleep(pause, undefined, { signal: this.#closing.signal }).catch(() => {});
    }
  }

  async #look(build: Look): Promise<void> {
    const project = await this.store.access.project(build.project);
    if (!project) return;
    const { branch, node_total } = build;
    const events = WEBHOOK_EVENTS.filter(event => wants(project, event));
    const asker = { project: project.id, isPage: false, hasLeft: () => false };
    if (wants(project, 'file_grew') || wants(project, 'runner_slow')) {
      const { grown, slow } = await this.jobs.read('flags', { project: project.id, branch, node_total, events }, asker);
      if (grown.length > 0) await this.#addGrown(project, build, grown);
      if (wants(project, 'runner_slow')) await this.#addSlow(project, build, slow);
    }
    if (!wants(project, 'became_flaky')) return;
    const { flaky, healed } = await this.jobs.read('flakyNow', { project: project.id, now: this.now() }, asker);
    await this.#addFlaky(project, build, flaky, healed);
  }

  async #addGrown(project: Project, build: Look, grown: readonly NewlyGrown[]): Promise<void> {
    const keysOf = ({ path, around }: NewlyGrown) => around.map(number => `file_grew ${digest(path)} ${number}`);
    const known = new Set(await this.store.deliveries.known(project.id, grown.flatMap(keysOf)));
    const unknown = grown.filter(file => !keysOf(file).some(key => known.has(key)));
    for (const file of unknown.slice(0, FILES_PER_LOOK))
      await this.#add(project, keysOf(file)[0]!, this.#writer(project).fileGrew(build, file));
  }

  async #addSlow(project: Project, build: Look, slow: readonly SlowNode[]): Promise<void> {
    const keyOf = (node_index: number) => `runner_slow ${build.node_total} ${node_index}`;
    const keys = Array.from({ length: build.node_total }, (_, node_index) => keyOf(node_index));
    const events = slow.map(node => [keyOf(node.node_index), this.#writer(project).runnerSlow(build, node)] as const);
    await this.#addLasting(project, keys, events, Infinity);
  }

  async #addFlaky(project: Project, build: Look, flaky: readonly FlakyFile[], healed: readonly string[]): Promise<void> {
    const keyOf = (path: string) => `became_flaky ${digest(path)}`;
    const keys = [...healed, ...flaky.map(({ path }) => path)].map(keyOf);
    const events = flaky.map(file => [keyOf(file.path), this.#writer(project).becameFlaky(build, file)] as const);
    await this.#addLasting(project, keys, events, FILES_PER_LOOK);
  }

  /** Adds up to `most` new events of a kind that lasts: an event is forgotten when it is over, so that it is sent when it happens again. */
  async #addLasting(
    project: Project,
    keys: readonly string[],
    events: readonly (readonly [string, WebhookEvent])[],
    most: number,
  ): Promise<void> {
    const known = await this.store.deliveries.known(project.id, keys);
    const lasting = new Set(events.map(([key]) => key));
    const over = known.filter(key => !lasting.has(key));
    if (over.length > 0) await this.store.deliveries.forget(project.id, over);
    for (const [key, event] of events.filter(([key]) => !known.includes(key)).slice(0, most)) await this.#add(project, key, event);
  }

  async #add({ id: project, name }: Project, key: string, event: WebhookEvent): Promise<void> {
    const delivery = { project, key, id: randomUUID(), event, created_at: this.now() };
    const dropped = await this.store.deliveries.add(delivery, WAITING_DELIVERIES_PER_PROJECT);
    if (dropped > 0) {
      this.dropped += dropped;
      this.log.error({ project: name, dropped }, 'too many deliveries wait for the webhook of a project; the oldest were dropped');
    }
    this.added();
  }

  #writer({ name }: Project): EventWriter {
    return new EventWriter(name, this.publicUrl);
  }
}

function wants({ settings }: Project, event: WebhookEventName): boolean {
  return settings.webhook_url !== null && (settings.webhook_events ?? WEBHOOK_EVENTS).includes(event);
}
