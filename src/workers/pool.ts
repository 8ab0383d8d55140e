import { ApiError, apiErrors } from '../api-error.js';
import type { CompletenessSubject } from '../engine/completeness/assigned.js';
import type { Build } from '../engine/ports/builds.js';
import type { Millis, Store } from '../engine/ports/store.js';
import type { Summary } from '../engine/ports/summaries.js';
import type { Soon } from '../engine/soon.js';
import { limits } from '../limits.js';
import { type Asker, assertRoom, lineOf } from './asker.js';
import { BuildPieces } from './build-pieces.js';
import { FairSemaphore } from './fair-semaphore.js';
import type { InsightQuestion, insightReads } from './insight-reads.js';
import { type Posts, type Reads, reads } from './jobs.js';
import { KnownLists } from './known-lists.js';
import type { CompletenessJson, Json } from './reads.js';
import { isSmallBuild, isSmallSubject } from './small-reads.js';
import type { Lane, PostTask, Prepared, ReadTask, TaskAnswer } from './task.js';
import type { TaskRunner } from './threads.js';
import type { TrendJson } from './trend-reads.js';

/** Called for each task with the seconds that it waited for a worker thread and ran in it. */
export type Ran = (job: string, waited: number, took: number) => void;

interface TaskOptions {
  hasLeft: () => boolean;
  isPage?: boolean;
  /** A part of the answer has been sent, so the task can no longer be refused. */
  isUnderWay?: boolean;
}

/** The JSON of a build. A large one continues in pieces. */
export interface BuildJson {
  json: Json;
  rest?: AsyncGenerator<Uint8Array>;
  memoryBytes?: number;
}

/** What is asked about a CI run. */
export type InsightJob = keyof typeof insightReads;

/** The owners of what people read about builds, of comparisons, of summaries and of builds that are played, for all projects. */
const [INSIGHTS, COMPARISONS, SUMMARIES, WHAT_IFS] = ['insights', 'comparisons', 'summaries', 'what-ifs'] as const;

/** A line of a project, or one of those above. */
type Owner = ReturnType<typeof lineOf>;

/** Performs work that would delay other requests. The waiting work is bounded, and projects take turns. */
export class WorkerPool {
  /** The suites of one project do not delay those of another, and what people read delays no suite. */
  readonly #turns: Record<Lane, FairSemaphore>;
  /** Insights are read one at a time. */
  readonly #insights = new FairSemaphore(1);
  /** The lists of test files that were sent before. */
  readonly lists = new KnownLists();

  /** @param atOnce how many tasks for nodes the runner gets at a time: one more than its threads, so that no thread waits for the main thread */
  constructor(
    readonly store: Store,
    readonly runner: TaskRunner,
    atOnce: number,
    readonly ran: Ran = () => {},
  ) {
    this.#turns = { nodes: new FairSemaphore(atOnce), people: new FairSemaphore(2) };
  }

  /**
   * Prepares a POST. The body is transferred.
   * @param owner its project; null: not known yet
   * @param sooner called when it is its turn: what another request has prepared meanwhile, or a smaller task; null: nothing
   */
  async post<K extends keyof Posts>(
    task: PostTask<K>,
    owner: number | null,
    hasLeft: () => boolean,
    sooner: () => Soon<Prepared<K> | PostTask<K> | null> = () => null,
  ): Promise<Prepared<K>> {
    // Worker threads read only written times. Times that cannot be written now count later.
    if (task.job !== 'prepareSubset') await this.store.maintenance.publishTimings().catch(() => {});
    const begin = async () => {
      const found = await sooner();
      if (found && 'prepared' in found) return { value: found };
      const due = found ?? task;
      return this.runner.run(
        due,
        due.body.map(({ buffer }) => buffer as ArrayBuffer),
        'nodes',
      );
    };
    const { list, ...prepared } = (await this.#run(owner, task.job, begin, { hasLeft })) as Prepared<K>;
    if (list) this.lists.add(prepared.project, list);
    return prepared;
  }

  /** A build with all its runs, newest first. */
  async build(build: Build, asker: Asker): Promise<BuildJson> {
    const read = <K extends 'buildOutline' | 'buildPiece'>(job: K, subject: Parameters<Reads[K]>[1], isUnderWay: boolean) =>
      this.#read(lineOf(asker), { kind: 'read', job, subject }, { ...asker, isUnderWay }, isSmallBuild(build));
    const outline = await read('buildOutline', build, false);
    const pieces = new BuildPieces(build, outline, (subject, isFirst) => read('buildPiece', subject, !isFirst));
    const json = await pieces.first();
    return pieces.isDone ? { json } : { json, rest: pieces.rest(), memoryBytes: limits.pieceBytes + pieces.bytes };
  }

  /** The test files that all nodes of a build recorded. */
  async distribution(build: Build, asker: Asker): Promise<Json> {
    const task: ReadTask<'recordedDistribution'> = { kind: 'read', job: 'recordedDistribution', subject: build };
    return (await this.#read(lineOf(asker), task, asker, isSmallBuild(build))).json;
  }

  /** Whether every test file of a CI run is recorded, according to the disk. */
  async completeness(subject: CompletenessSubject, hasLeft: () => boolean): Promise<CompletenessJson> {
    await this.store.maintenance.publishQueues();
    // They run one at a time, and do not wait behind other work of their project.
    return this.#read(COMPARISONS, { kind: 'read', job: 'completeness', subject }, { hasLeft });
  }

  /** The paths that failed in a queue. Always read in a worker thread, because their number is unknown. */
  async failedPaths(queue: string, asker: Asker): Promise<Json> {
    await this.store.maintenance.publishQueues();
    return (await this.#read(lineOf(asker), { kind: 'read', job: 'failedTestPaths', subject: queue }, asker)).json;
  }

  /** An answer about what the nodes of a CI run did, or why. */
  async insight<K extends InsightJob>(job: K, question: Parameters<Reads[K]>[1] & InsightQuestion, asker: Asker): Promise<Json> {
    const { subject } = question;
    const isSmall = await isSmallSubject(this.store, subject);
    // Worker threads read only written batches.
    if (!isSmall) await this.store.maintenance.publishQueues();
    const task: ReadTask<InsightJob> = { kind: 'read', job, subject: question as never };
    return (await (isSmall ? this.#read(INSIGHTS, task, asker, true) : this.#insight(task, asker))).json;
  }

  /** The summary of the newest CI run of a build, according to the disk. They are written one at a time, after the work of nodes. */
  summary(build: Build, at: Millis): Promise<Summary> {
    return this.#read(SUMMARIES, { kind: 'read', job: 'buildSummary', subject: { build, at } }, { hasLeft: () => false });
  }

  /** A trend over many builds. */
  trend<K extends 'fileTrends' | 'fileHistory' | 'nodeTrends'>(job: K, subject: Parameters<Reads[K]>[1], asker: Asker): Promise<TrendJson> {
    return this.#insight({ kind: 'read', job, subject }, asker) as Promise<TrendJson>;
  }

  /** A part of a request to play a build. They run one at a time. */
  async whatIf<K extends 'prepareWhatIf' | 'playVariants' | 'playCuts'>(
    job: K,
    subject: Parameters<Reads[K]>[1],
    hasLeft: () => boolean,
  ): Promise<Awaited<ReturnType<Reads[K]>>> {
    if (job === 'prepareWhatIf') {
      await this.store.maintenance.publishQueues();
      await this.store.maintenance.publishTimings().catch(() => {});
    }
    return this.#read(WHAT_IFS, { kind: 'read', job, subject }, { hasLeft });
  }

  /** The numbers of waiting tasks, running tasks and threads. */
  get load(): { waiting: number; running: number; threads: number } {
    const { nodes, people } = this.#turns;
    return { waiting: nodes.waiting + people.waiting, running: nodes.running + people.running, threads: this.runner.threads };
  }

  close(): Promise<void> {
    return this.runner.close();
  }

  /** Reads an insight when it is the asker's turn. Throws the error of `assertRoom` when too many of the project wait. */
  async #insight<K extends keyof Reads>(task: ReadTask<K>, asker: Asker): Promise<Awaited<ReturnType<Reads[K]>>> {
    const line = lineOf(asker);
    assertRoom(asker, this.#insights.waitingOf(line), limits.waitingInsightsPerProject, 'too many pages of builds are read at once');
    return this.#insights.run(line, () => this.#read(INSIGHTS, task, { hasLeft: asker.hasLeft }));
  }

  /** @param isHere runs it on this thread, because it is small */
  async #read<K extends keyof Reads>(
    owner: Owner,
    task: ReadTask<K>,
    options: TaskOptions,
    isHere = false,
  ): Promise<Awaited<ReturnType<Reads[K]>>> {
    const begin = async () => {
      await this.store.maintenance.publishRuns();
      return this.runner.run(task as unknown as ReadTask, [], laneOf(owner));
    };
    const value = isHere ? reads[task.job](this.store, task.subject as never) : this.#run(owner, task.job, begin, options);
    return (await value) as Awaited<ReturnType<Reads[K]>>;
  }

  async #run(
    owner: Owner | null,
    job: string,
    begin: () => Promise<TaskAnswer>,
    { hasLeft, isPage = false, isUnderWay = false }: TaskOptions,
  ): Promise<unknown> {
    const turns = this.#turns[laneOf(owner)];
    if (!isUnderWay) {
      const load = 'too many large test suites at once';
      assertRoom({ isPage: false }, turns.waiting, limits.waitingJobs, load);
      assertRoom({ isPage }, turns.waitingOf(owner), limits.waitingJobsPerProject, load);
    }
    const asked = performance.now();
    const answer = await turns.run(owner, async () => {
      // The client may have left meanwhile.
      if (hasLeft()) throw apiErrors.clientLeft();
      const began = performance.now();
      const result = await begin();
      this.ran(job, (began - asked) / 1000, (performance.now() - began) / 1000);
      return result;
    });
    // The worker may have seen a commit that this thread's open read does not show yet.
    this.store.maintenance.refresh();
    if ('value' in answer) return answer.value;
    const { status, errors, headers, reason } = answer.error;
    throw new ApiError(status, errors, headers, undefined, reason);
  }
}

/** CI jobs wait in the lines of their projects, and for comparisons. */
const laneOf = (owner: Owner | null): Lane => (typeof owner === 'string' && owner !== COMPARISONS ? 'people' : 'nodes');
