import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { JobRunner } from '../api/job-runner.js';
import { isOutOfDate } from '../engine/insight/trends/summary.js';
import type { BuildKey } from '../engine/keys.js';
import type { Build } from '../engine/ports/builds.js';
import type { Millis, Store } from '../engine/ports/store.js';
import { LogThrottle } from '../http/log-throttle.js';
import { limits } from '../limits.js';
import { type BatchSums, tellsMore } from '../planning/batching/batch-cost.js';

/** A build whose summary is to be written. Times are milliseconds of the monotonic clock. */
interface Waiting {
  project: number;
  build: BuildKey;
  dueAt: number;
  /** It is due then, even if runs are still being recorded. */
  latestAt: number;
}

/**
 * Writes the summaries of builds some seconds after a run was recorded: one at a time, in a worker thread. A recording never
 * waits for it. A project learns from its first build what a batch costs. The waiting builds are only in memory: after a kill, a
 * list that shows such a build has its summary written.
 */
export class Summarizer {
  /** How many summaries were written since the start. */
  written = 0;
  readonly #waiting = new Map<string, Waiting>();
  readonly #throttle = new LogThrottle();
  #timer: NodeJS.Timeout | null = null;
  #last: Promise<void> = Promise.resolve();
  readonly #closing = new AbortController();

  /**
   * @param now milliseconds since 1970
   * @param uptime milliseconds on a monotonic clock
   */
  constructor(
    readonly store: Pick<Store, 'access' | 'builds' | 'queues' | 'summaries' | 'maintenance'>,
    readonly jobs: Pick<JobRunner, 'read'>,
    readonly log: Logger,
    readonly now: () => Millis,
    readonly uptime: () => number,
  ) {}

  /** How many builds wait for their summary. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /** Notes that a run of a build was recorded. */
  recorded(project: number, build: BuildKey): void {
    const key = keyOf(project, build);
    const waiting = this.#waiting.get(key);
    const dueAt = this.uptime() + limits.summaryQuietMilliseconds;
    if (waiting) waiting.dueAt = Math.min(dueAt, waiting.latestAt);
    else this.#wait(key, { project, build, dueAt, latestAt: dueAt + limits.summaryLatestMilliseconds });
  }

  /** Notes that a build was read whose summary is missing or out of date. */
  outdated(build: Build): void {
    const key = keyOf(build.project, build);
    const dueAt = this.uptime();
    if (!this.#waiting.has(key)) this.#wait(key, { project: build.project, build, dueAt, latestAt: dueAt });
  }

  /** Notes the newest builds of each project whose summaries the last process did not write. */
  async noteNewest(): Promise<void> {
    for (const { id } of (await this.store.access.projects()).slice(0, limits.projectsSummarizedAtStart)) {
      await nextTurn();
      for (const build of (await this.store.builds.page(id, {}, 1)).builds) {
        if (this.#isClosing) return;
        if (isOutOfDate(build, await this.store.summaries.get(build.number))) this.outdated(build);
      }
    }
  }

  /** Writes the summaries that are due. */
  writeDue(): Promise<void> {
    return this.#writeAll(({ dueAt }) => dueAt <= this.uptime());
  }

  /** Writes all summaries that wait; resolves when they can be read. */
  async flush(): Promise<void> {
    await this.store.maintenance.publishQueues();
    await this.#writeAll(() => true, true);
  }

  /** Stops after the summary that is being written. */
  async close(): Promise<void> {
    this.#closing.abort();
    if (this.#timer) clearTimeout(this.#timer);
    await this.#last;
  }

  get #isClosing(): boolean {
    return this.#closing.signal.aborted;
  }

  /** Pauses after a summary that took this long. The close ends the pause. */
  #pause(milliseconds: number): Promise<void> {
    return sleep(limits.summaryPauseFactor * milliseconds, undefined, { signal: this.#closing.signal }).catch(() => {});
  }

  #wait(key: string, waiting: Waiting): void {
    if (this.#isClosing || this.#waiting.size >= limits.waitingSummaries) return;
    this.#waiting.set(key, waiting);
    this.#schedule();
  }

  #schedule(): void {
    this.#timer ??= setTimeout(() => {
      void this.writeDue().then(() => {
        this.#timer = null;
        if (this.#waiting.size > 0 && !this.#isClosing) this.#schedule();
      });
    }, limits.summaryTickMilliseconds).unref();
  }

  #writeAll(isDue: (waiting: Waiting) => boolean, isUrgent = false): Promise<void> {
    return (this.#last = this.#last.then(async () => {
      for (const [key, waiting] of [...this.#waiting]) {
        if (this.#isClosing) return;
        if (!isDue(waiting)) continue;
        this.#waiting.delete(key);
        const begun = performance.now();
        await this.#write(key, waiting).catch((err: unknown) => this.#report(err));
        // Summaries of many builds must not slow the nodes down.
        if (!isUrgent && !this.#isClosing) await this.#pause(performance.now() - begun);
      }
    }));
  }

  async #write(key: string, { project, build: { commit_hash, branch, node_total } }: Waiting): Promise<void> {
    const build = await this.store.builds.find(project, { commit_hash, branch, node_total });
    if (!build) return;
    const asker = { project: build.project, isPage: false, hasLeft: () => false };
    const { summary, observed } = await this.jobs.read('buildSummary', { build, at: this.now() }, asker);
    await this.store.summaries.put(build, summary);
    this.written += 1;
    if (!summary.is_running) return this.#learn(build.project, observed);
    const dueAt = this.uptime() + limits.summaryRepeatMilliseconds;
    if (!this.#waiting.has(key)) this.#wait(key, { project, build, dueAt, latestAt: dueAt });
  }

  /** Has a project learn from a build of files that were never measured. Its queue could not: times are recorded after batches end. */
  async #learn(project: number, observed: BatchSums | null): Promise<void> {
    if (observed && tellsMore(observed, await this.store.queues.learned(project, 'queue')))
      this.store.queues.learn(project, 'queue', observed);
  }

  #report(err: unknown): void {
    const times = this.#throttle.hit();
    if (times !== null) this.log.warn({ err, times }, 'could not write the summary of a build; lists show it without one');
  }
}

function keyOf(project: number, { commit_hash, branch, node_total }: BuildKey): string {
  return `${project} ${node_total} ${commit_hash.length} ${commit_hash}${branch}`;
}
