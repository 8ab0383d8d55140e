import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Soon } from '../../base/soon.js';
import { limits } from '../../protocol/limits.js';
import { toApiError } from '../api/errors.js';
import type { JobRunner } from '../api/job-runner.js';
import type { BuildKey, ProjectBuild, QueueKey } from '../engine/keys.js';
import type { Millis, Store } from '../engine/ports/store.js';
import { isOutOfDate } from '../engine/ports/summaries.js';
import { isPublicSide } from '../engine/public-side/side.js';
import { LogThrottle } from '../http/log-throttle.js';
import { SILENT_MILLISECONDS } from '../insight/timeline/draft-span.js';
import { SUMMARY_LATEST_MILLISECONDS, UNRECORDED_RUN_MILLISECONDS } from '../insight/trends/build-lines.js';
import type { SummarizedBuild } from '../insight/trends/build-summary.js';
import { SUMMARY_PAUSE_FACTOR, withSummaries } from '../insight/trends/summary.js';
import { type BatchSums, tellsMore } from '../planning/batching/batch-cost.js';
import type { WebhookEvents } from './webhook-events.js';

/** A summary is written when no run of its build was recorded for this time. */
export const SUMMARY_QUIET_MILLISECONDS = 5000;
/** Interval at which the summaries that are due are looked for. */
const SUMMARY_TICK_MILLISECONDS = 1000;
/** Interval at which the summary of a running build is written again, and one that could not be written is tried again. */
export const SUMMARY_REPEAT_MILLISECONDS = 60_000;
/** Time that a queue waits for what its project can learn. What takes longer is learned for the next queue. */
const LEARNING_MILLISECONDS = 1000;
/** Builds that may wait for their summary; others get it when a list shows them. */
export const WAITING_SUMMARIES = 2000;
/** Those of public sides that may wait: strangers take no place of others. */
export const WAITING_PUBLIC_SUMMARIES = 50;
/** Projects whose newest builds are looked through at a start for missing summaries. */
const PROJECTS_SUMMARIZED_AT_START = 100;
/** CI runs of a project that are looked at once a minute, to find those of which nothing is recorded. */
const SILENT_RUNS_PER_LOOK = 1000;

/** A build whose summary is to be written. Times are milliseconds of the monotonic clock. */
interface Waiting {
  project: number;
  build: BuildKey;
  dueAt: number;
  /** The summary is due at this time, even if runs are still being recorded. */
  latestAt: number;
}

/**
 * Writes the summaries of builds some seconds after a run was recorded: one at a time, in a worker thread. A recording never
 * waits for it. A CI run of which nothing is recorded gets its summary when its nodes are silent for too long. A project learns from its
 * first build what a batch costs. A summary that the store does not take now is written later. The waiting builds are only in memory: after a
 * kill, a list that shows such a build has its summary written.
 */
export class Summarizer {
  /** Number of summaries written since the start. */
  written = 0;
  readonly #waiting = new Map<string, Waiting>();
  /** The same of public sides, which are written after the others. */
  readonly #waitingPublic = new Map<string, Waiting>();
  /** Projects that were seen to know a cost of batches: they do not forget it. */
  readonly #knowing = new Set<number>();
  /** Projects that learn from their newest build now. */
  readonly #learningFirst = new Map<number, Promise<void>>();
  readonly #throttle = new LogThrottle();
  #timer: NodeJS.Timeout | null = null;
  #last: Promise<void> = Promise.resolve();
  readonly #closing = new AbortController();
  readonly #looking: NodeJS.Timeout;
  /** Builds whose CI runs began before were looked at. Milliseconds since 1970. */
  #lookedTo: Millis;

  /**
   * @param now milliseconds since 1970
   * @param uptime milliseconds on a monotonic clock
   * @param events gets each summary
   */
  constructor(
    readonly store: Pick<Store, 'access' | 'builds' | 'ciRuns' | 'queues' | 'summaries' | 'failures' | 'maintenance'>,
    readonly jobs: Pick<JobRunner, 'read'>,
    readonly log: Logger,
    readonly now: () => Millis,
    readonly uptime: () => number,
    readonly events: Pick<WebhookEvents, 'summarized'>,
  ) {
    this.#lookedTo = now() - UNRECORDED_RUN_MILLISECONDS;
    this.#looking = setInterval(() => this.noteSilent().catch(err => this.#report(err)), SUMMARY_REPEAT_MILLISECONDS).unref();
  }

  /** Number of builds that wait for their summary. */
  get waiting(): number {
    return this.#waiting.size + this.#waitingPublic.size;
  }

  /** Notes that a run of a build was recorded. */
  recorded(project: number, build: BuildKey): void {
    const key = keyOf(project, build);
    const waiting = this.#waitingOf(project).get(key);
    const dueAt = this.uptime() + SUMMARY_QUIET_MILLISECONDS;
    if (waiting) waiting.dueAt = Math.min(dueAt, waiting.latestAt);
    else this.#wait(key, { project, build, dueAt, latestAt: dueAt + SUMMARY_LATEST_MILLISECONDS });
  }

  /** Notes that a build was read whose summary is missing or out of date. */
  outdated({ project, ...build }: ProjectBuild): void {
    const key = keyOf(project, build);
    const dueAt = this.uptime();
    if (!this.#waitingOf(project).has(key)) this.#wait(key, { project, build, dueAt, latestAt: dueAt });
  }

  /**
   * Has a project that knows no cost of batches learn it from its newest build, whose summary may not be due yet: the queue of its second
   * build is planned next.
   * @param key that of the queue: nothing is learned if it exists; null: the key is not known yet
   */
  learnFirst(project: number, key: QueueKey | null): Soon<void> {
    if (!this.#knowing.has(project) && !isPublicSide(project)) return this.#learnFirst(project, key);
  }

  async #learnFirst(project: number, key: QueueKey | null): Promise<void> {
    if (await this.store.queues.learned(project, 'queue')) {
      this.#knowing.add(project);
      return;
    }
    if (key && (await this.store.queues.find(key))) return;
    const learning = this.#learningFirst.get(project) ?? this.#learnFromNewest(project);
    this.#learningFirst.set(project, learning);
    const learned = learning
      .catch((err: unknown) => this.#report(err, 'could not learn what batches cost; the queue is planned without it'))
      .finally(() => this.#learningFirst.delete(project));
    await Promise.race([learned, sleep(LEARNING_MILLISECONDS, undefined, { ref: false })]);
  }

  /** Notes the newest builds of each project whose summaries the last process did not write. */
  async noteNewest(): Promise<void> {
    for (const { id } of (await this.store.access.projects()).slice(0, PROJECTS_SUMMARIZED_AT_START)) {
      await nextTurn();
      const builds = await this.store.builds.list(id, {}, { limit: limits.buildsPerPage });
      for (const { build, summary } of await withSummaries(this.store, builds)) if (isOutOfDate(build, summary)) this.outdated(build);
      if (this.#isClosing) return;
    }
  }

  /** Notes the builds whose CI runs began `SILENT_MILLISECONDS` ago, since it last looked, and of which nothing is recorded. */
  async noteSilent(): Promise<void> {
    const [from, to] = [this.#lookedTo, this.now() - SILENT_MILLISECONDS];
    for (const { id } of await this.store.access.projects()) {
      await nextTurn();
      for (const ciRun of await this.store.ciRuns.list(id, to, SILENT_RUNS_PER_LOOK)) {
        if (this.#isClosing || ciRun.created_at < from) break;
        const build = await this.store.builds.find(id, ciRun);
        if (!build || build.recorded <= ciRun.runs_before) this.outdated(ciRun);
      }
    }
    this.#lookedTo = to;
  }

  /** Writes the summaries that are due. */
  writeDue(): Promise<void> {
    return this.#writeAll(({ dueAt }) => dueAt <= this.uptime());
  }

  /** Writes all summaries that wait; resolves when they can be read. */
  async flush(): Promise<void> {
    await this.noteSilent();
    await this.store.maintenance.publish('queues');
    await this.#writeAll(() => true, true);
  }

  /** Stops after the summary that is being written. */
  async close(): Promise<void> {
    this.#closing.abort();
    clearInterval(this.#looking);
    if (this.#timer) clearTimeout(this.#timer);
    await this.#last;
  }

  get #isClosing(): boolean {
    return this.#closing.signal.aborted;
  }

  /** Pauses after a summary that took this long. The close ends the pause. */
  #pause(milliseconds: number): Promise<void> {
    return sleep(SUMMARY_PAUSE_FACTOR * milliseconds, undefined, { signal: this.#closing.signal }).catch(() => {});
  }

  #wait(key: string, waiting: Waiting): void {
    const places = this.#waitingOf(waiting.project);
    const most = places === this.#waiting ? WAITING_SUMMARIES : WAITING_PUBLIC_SUMMARIES;
    if (this.#isClosing || places.size >= most) return;
    places.set(key, waiting);
    this.#schedule();
  }

  #waitingOf(project: number): Map<string, Waiting> {
    return isPublicSide(project) ? this.#waitingPublic : this.#waiting;
  }

  /** Has a summary written once more, after some time. */
  #waitAgain(key: string, { project, build }: Pick<Waiting, 'project' | 'build'>): void {
    const dueAt = this.uptime() + SUMMARY_REPEAT_MILLISECONDS;
    if (!this.#waitingOf(project).has(key)) this.#wait(key, { project, build, dueAt, latestAt: dueAt });
  }

  #schedule(): void {
    this.#timer ??= setTimeout(() => {
      void this.writeDue().then(() => {
        this.#timer = null;
        if (this.waiting > 0 && !this.#isClosing) this.#schedule();
      });
    }, SUMMARY_TICK_MILLISECONDS).unref();
  }

  #writeAll(isDue: (waiting: Waiting) => boolean, isUrgent = false): Promise<void> {
    return (this.#last = this.#last.then(async () => {
      for (const [key, waiting] of [...this.#waiting, ...this.#waitingPublic]) {
        if (this.#isClosing) return;
        if (!isDue(waiting)) continue;
        this.#waitingOf(waiting.project).delete(key);
        const begun = performance.now();
        await this.#write(key, waiting).catch((err: unknown) => {
          this.#report(err);
          // The database is away, or too much waits.
          if (toApiError(err)?.status === 503) this.#waitAgain(key, waiting);
        });
        // Summaries of many builds must not slow the nodes down.
        if (!isUrgent && !this.#isClosing) await this.#pause(performance.now() - begun);
      }
    }));
  }

  async #read(project: number, { commit_hash, branch, node_total }: BuildKey): Promise<SummarizedBuild> {
    const asker = { project, isPage: false, hasLeft: () => false };
    return this.jobs.read('buildSummary', { build: { project, commit_hash, branch, node_total }, at: this.now() }, asker);
  }

  async #write(key: string, { project, build }: Waiting): Promise<void> {
    const read = await this.#read(project, build);
    const { recorded, ciRun, summary, failures, observed } = read;
    // The events tell of it.
    if (recorded && !isPublicSide(project)) await this.store.failures.put(recorded, failures);
    // Before the summary is there: it is not made again.
    await this.events.summarized({ project, ...build }, read);
    if (recorded) {
      await this.store.summaries.put(recorded, summary);
      // A cancelled CI run that goes on again has a summary.
    } else if (ciRun && (summary.state !== 'running' || (await this.store.summaries.ofUnrecorded(ciRun))))
      await this.store.summaries.putUnrecorded(ciRun, summary);
    this.written += 1;
    if (summary.state !== 'running') return this.#learn(project, observed);
    this.#waitAgain(key, { project, build });
  }

  /** Has a project, but not its public side, learn from a build of files that were never measured. Its queue could not: times are recorded after batches end. */
  async #learn(project: number, observed: BatchSums | null): Promise<void> {
    if (observed && !isPublicSide(project) && tellsMore(observed, await this.store.queues.learned(project, 'queue')))
      await this.store.queues.learn(project, 'queue', observed);
  }

  async #learnFromNewest(project: number): Promise<void> {
    const builds = await this.store.builds.list(project, {}, { limit: 1 });
    for (const { build, summary: written } of await withSummaries(this.store, builds)) {
      // A build with a summary was learned from when that was written.
      if (!isOutOfDate(build, written)) continue;
      const { summary, observed } = await this.#read(project, build);
      if (summary.state !== 'running') await this.#learn(project, observed);
    }
  }

  #report(err: unknown, message = 'could not write the summary of a build; lists show it without one'): void {
    const times = this.#throttle.hit();
    if (times !== null) this.log.warn({ err, times }, message);
  }
}

function keyOf(project: number, { commit_hash, branch, node_total }: BuildKey): string {
  return `${project} ${node_total} ${commit_hash.length} ${commit_hash}${branch}`;
}
