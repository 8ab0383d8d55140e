import type { BuildKey } from '../../src/server/engine/keys.js';
import type { Build } from '../../src/server/engine/ports/builds.js';
import type { Store } from '../../src/server/engine/ports/store.js';
import type { SummarizedBuild } from '../../src/server/insight/trends/build-summary.js';

/** Builds whose summaries are written together: the worker threads read only batches that a checkpoint wrote. */
const TOGETHER = 20;

/** Writes the summaries of played builds in worker threads, while more builds are played. */
export class Summaries {
  readonly #waiting = new Map<string, { project: number; build: BuildKey }>();
  #writing: Promise<void> = Promise.resolve();

  /** @param now when the builds have ended, in milliseconds since 1970 */
  constructor(
    readonly store: Store,
    readonly summaryOf: (build: Build, at: number) => Promise<Pick<SummarizedBuild, 'summary' | 'failures'>>,
    readonly now: number,
  ) {}

  /** Notes that all runs of a CI run are recorded. */
  note(project: number, build: BuildKey): void {
    this.#waiting.set(`${project} ${build.commit_hash}`, { project, build });
    if (this.#waiting.size >= TOGETHER) void this.end();
  }

  /** Resolves when the summaries of all noted builds are written. */
  end(): Promise<void> {
    const some = [...this.#waiting.values()];
    this.#waiting.clear();
    return (this.#writing = this.#writing.then(() => this.#write(some)));
  }

  async #write(some: { project: number; build: BuildKey }[]): Promise<void> {
    await this.store.maintenance.publish('queues');
    await Promise.all(
      some.map(async ({ project, build: key }) => {
        const build = (await this.store.builds.find(project, key))!;
        const { summary, failures } = await this.summaryOf(build, this.now);
        await this.store.failures.put(build, failures);
        await this.store.summaries.put(build, summary);
      }),
    );
  }
}
