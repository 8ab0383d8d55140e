import { Piscina } from 'piscina';
import type { RawParameters } from '../api/messages/coerce.js';
import { decodeBody, guessToken, tokenInBody } from '../api/messages/decode.js';
import { ApiError, apiErrors } from '../api-error.js';
import { limits } from '../limits.js';
import type { Logger } from '../server/log.js';
import type { Build } from '../store/lmdb/builds.js';
import { written } from '../store/lmdb/commit.js';
import type { Store } from '../store/lmdb/open.js';
import { TooManyCases } from '../store/lmdb/timings.js';
import { projectOfToken } from '../store/lmdb/tokens.js';
import { authenticate } from './authenticate.js';
import { BuildPieces, type Outline, type Piece } from './build-pieces.js';
import type { CompletenessSubject } from './completeness.js';
import { FairSemaphore } from './fair-semaphore.js';
import { type Posts, posts } from './jobs.js';
import { buildDetail, recordedDistribution } from './read.js';
import type { PiecedAnswer, PostTask, ReadAnswer, ReadTask, Task, TaskAnswer, WorkerSetup } from './task.js';

export interface Prepared<K extends keyof Posts> {
  project: number;
  prepared: ReturnType<Posts[K]>;
}

/** What a client sent, and whether it is gone by now. */
export interface Sending {
  body: Uint8Array[];
  hasLeft: () => boolean;
}

interface Manner {
  hasLeft: () => boolean;
  transferList?: ArrayBuffer[];
  /** A part of its answer has been sent, so it can no longer be refused. */
  isUnderWay?: boolean;
}

/** Told of each large request that waited for a packing thread and ran in it, in seconds. */
export type Ran = (job: string, waited: number, took: number) => void;

/** Who brings the comparisons of builds, of whichever project. */
const COMPARISONS = 'comparisons';

/** Runs jobs: small ones here and now, those that take long in packing threads, so that nobody waits for them. */
export class JobPool {
  readonly #piscina: Piscina;
  /** One customer's suites do not hold up another's. */
  readonly #turns: FairSemaphore;

  constructor(
    readonly store: Store,
    readonly options: WorkerSetup & { workers: number; leastWorkers?: number; ran?: Ran },
    readonly log: Logger,
  ) {
    const { dataDir, tokenHeader, pullCost } = options;
    const setup: WorkerSetup = { dataDir, tokenHeader, pullCost };
    // One more than there are threads, so that none of them waits for this one.
    this.#turns = new FairSemaphore(options.workers + 1);
    this.#piscina = new Piscina({
      filename: new URL('./worker.js', import.meta.url).href,
      workerData: setup,
      minThreads: options.leastWorkers ?? 1,
      maxThreads: options.workers,
      idleTimeout: limits.idleThreadMilliseconds,
    });
  }

  /** Starts a thread and waits for it: a worker that cannot start is found out now, not at the first large suite. */
  async warmUp(): Promise<void> {
    let fail: (error: Error) => void = () => {};
    const failed = new Promise<never>((_, reject) => {
      fail = reject;
      this.#piscina.once('error', fail);
    });
    await Promise.race([this.#piscina.run(null), failed]);
    this.#piscina.off('error', fail);
    // A failure in a task rejects that task; what comes here is a thread that could not start or died between tasks.
    this.#piscina.on('error', err => this.log.error({ err }, 'a packing thread failed'));
    this.#piscina.run({ kind: 'rehearse' } satisfies Task).catch((err: unknown) => this.log.debug({ err }, 'no rehearsal'));
  }

  /**
   * Prepares a POST. A null project means that the token is in the body. A small body is lent until this returns, a large one given.
   * What a client that has left sent is not worked on.
   */
  async post<K extends keyof Posts>(job: K, { body, hasLeft }: Sending, project: number | null): Promise<Prepared<K>> {
    const [first] = body as [Uint8Array];
    const isSmall = body.length === 1 && first.length < limits.pooledBodyBytes;
    let owner = project;
    if (isSmall) {
      const sent = decodeBody(first);
      project ??= authenticate(this.store, tokenInBody(sent), this.options.tokenHeader);
      owner = project;
      const files = sent.test_files ?? sent.paths;
      if (!Array.isArray(files) || files.length < limits.pooledTestFiles) {
        const prepared = this.#prepareHere(job, sent, project);
        if (prepared) return { project, prepared };
      }
    } else if (project === null) {
      const token = guessToken(body);
      owner = token === null ? null : projectOfToken(this.store, token);
    }
    // A slice of a Buffer would be the same memory, maybe Node's own.
    const own = isSmall ? [new Uint8Array(first)] : body;
    // A thread sees what is written; what cannot be written now counts later.
    if (job !== 'prepareSubset') await this.store.recent.save().catch(() => {});
    return (await this.#run(
      owner,
      { kind: 'post', job, body: own, project },
      { hasLeft, transferList: own.map(({ buffer }) => buffer as ArrayBuffer) },
    )) as Prepared<K>;
  }

  /** A build with all its runs. */
  async build(build: Build, hasLeft: () => boolean): Promise<PiecedAnswer> {
    if (isSmallBuild(build)) return buildDetail(this.store, build);
    const { project } = build;
    const outline = (await this.#run(project, { kind: 'read', job: 'buildOutline', subject: build }, { hasLeft })) as Outline;
    const pieces = new BuildPieces(
      build,
      outline,
      async (subject, isFirst) =>
        (await this.#run(project, { kind: 'read', job: 'buildPiece', subject }, { hasLeft, isUnderWay: !isFirst })) as Piece,
    );
    const body = await pieces.first();
    return pieces.isDone
      ? { status: 200, body }
      : { status: 200, body, rest: pieces.rest(), memoryBytes: limits.pieceBytes + pieces.bytes };
  }

  /** What all nodes of a build recorded. */
  async distribution(build: Build, hasLeft: () => boolean): Promise<ReadAnswer> {
    if (isSmallBuild(build)) return recordedDistribution(this.store, build);
    return (await this.#run(build.project, { kind: 'read', job: 'recordedDistribution', subject: build }, { hasLeft })) as ReadAnswer;
  }

  /** Whether all that a build was to run is recorded, as far as both are on disk. */
  async completeness(subject: CompletenessSubject, hasLeft: () => boolean): Promise<ReadAnswer> {
    // A thread sees only what is on disk.
    await written(this.store.journal.checkpoint());
    // One at a time: not behind what its project brings.
    return (await this.#run(COMPARISONS, { kind: 'read', job: 'completeness', subject }, { hasLeft })) as ReadAnswer;
  }

  /** What failed in a queue. Always in a thread: its size is known only after reading what clients reported. */
  async failedPaths(project: number, queue: string, hasLeft: () => boolean): Promise<ReadAnswer> {
    await written(this.store.journal.checkpoint());
    return (await this.#run(project, { kind: 'read', job: 'failedTestPaths', subject: queue }, { hasLeft })) as ReadAnswer;
  }

  /** Large requests that wait for a packing thread, those that threads have, and the threads. */
  get load(): { waiting: number; running: number; threads: number } {
    return { waiting: this.#turns.waiting, running: this.#turns.running, threads: this.#piscina.threads.length };
  }

  async close(): Promise<void> {
    await this.#piscina.close();
  }

  /** Null when this turns out to take long. */
  #prepareHere<K extends keyof Posts>(job: K, sent: RawParameters, project: number): ReturnType<Posts[K]> | null {
    try {
      const { pullCost } = this.options;
      return posts[job](this.store, sent, project, { pullCost, isPooled: false }) as ReturnType<Posts[K]>;
    } catch (error) {
      if (error instanceof TooManyCases) return null;
      throw error;
    }
  }

  /** @param owner a project; null: it is not known yet */
  async #run(
    owner: number | null | typeof COMPARISONS,
    task: PostTask | ReadTask,
    { hasLeft, transferList = [], isUnderWay = false }: Manner,
  ): Promise<unknown> {
    const { waiting } = this.#turns;
    if (!isUnderWay && (waiting >= limits.waitingJobs || this.#turns.waitingOf(owner) >= limits.waitingJobsPerProject)) {
      throw apiErrors.overloaded('jobs', 'too many large test suites at once', limits.retryAfterSeconds);
    }
    const asked = performance.now();
    const answer = (await this.#turns.run(owner, async () => {
      // It may have waited longer than its client does.
      if (hasLeft()) throw apiErrors.clientLeft();
      const began = performance.now();
      const told: unknown = await this.#piscina.run(task, { transferList });
      this.options.ran?.(task.job, (began - asked) / 1000, (performance.now() - began) / 1000);
      return told;
    })) as TaskAnswer;
    // The thread may have seen a commit that this thread's open read transaction does not show yet.
    this.store.root.resetReadTxn();
    if ('fault' in answer)
      throw new ApiError(answer.fault.status, answer.fault.errors, answer.fault.headers, undefined, answer.fault.reason);
    return answer.value;
  }
}

function isSmallBuild({ test_files, subsets }: Build): boolean {
  return test_files + subsets < limits.pooledTestFiles;
}
