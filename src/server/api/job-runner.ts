import { bytesIn } from '../../base/bytes.js';
import type { Soon } from '../../base/soon.js';
import { limits } from '../../protocol/limits.js';
import { memoryBounds } from '../engine/memory-bounds.js';
import type { Store } from '../engine/ports/store.js';
import { isPublicSide, ownerOf } from '../engine/public-side/side.js';
import { SuiteCache } from '../engine/suites/suite-cache.js';
import { ApiError, httpErrors } from '../http/api-error.js';
import { giveMemory } from '../http/spare-memory.js';
import { type Lane, Lanes } from '../threads/lanes.js';
import type { Group, Threads } from '../threads/threads.js';
import { apiErrors } from './errors.js';
import type { JobAnswer } from './jobs.js';
import type { PostInput, Posts, Prepared } from './posts.js';
import { type Reads, reads } from './reads.js';

/** Jobs of all projects that may wait for a worker thread; beyond it 503. */
export const WAITING_JOBS = 4096;
/** Large requests of a project that may wait for a worker thread; beyond it 503. */
export const WAITING_JOBS_PER_PROJECT = 1024;
/** Requests of a project for timelines, trends and the like that may wait; beyond it 503. */
export const WAITING_INSIGHTS_PER_PROJECT = 200;
/** Completeness checks of different builds of a project that may wait; beyond it 503. */
export const WAITING_COMPARISONS_PER_PROJECT = 100;
/** Requests of all pages that show a project, if its lane allows more; beyond it 429. */
export const WAITING_PAGES_PER_PROJECT = 100;
/** Bodies of at least this size (about 20,000 test files) leave one worker thread to smaller ones, where there are several. */
export const LARGE_BODY_BYTES = 2_097_152;
/** Requests of a project to play a build that may wait; beyond it 503. */
export const WAITING_WHAT_IFS_PER_PROJECT = 20;

/** The project and caller of work that may have to wait. */
export interface Asker {
  project: number;
  /** A page of the dashboard asks, not a CI job. */
  isPage: boolean;
  hasLeft: () => boolean;
}

/** A kind of work. Its waiting work is bounded in each of its lines: one for each project, and one for its pages. */
interface JobLane extends Lane {
  group: Group;
  mostWaiting: number;
  /** The overload, as the error sentence names it. */
  load: string;
}

const suites: JobLane = {
  group: 'nodes',
  atOnce: Infinity,
  mostWaiting: WAITING_JOBS_PER_PROJECT,
  load: 'too many large test suites at once',
};
/** The jobs of bodies that take a thread up to a second: one thread stays free for smaller suites. */
const largeBodies = (threads: number): JobLane => ({ ...suites, atOnce: Math.max(1, threads - 1) });
/** The jobs of suites when pages ask for them. */
const pages: JobLane = { ...suites, group: 'people' };
/** One at a time, so that where there are several worker threads the others stay free for suites. */
const comparisons: JobLane = {
  group: 'nodes',
  atOnce: 1,
  mostWaiting: WAITING_COMPARISONS_PER_PROJECT,
  load: 'too many comparisons of builds at once',
};
const insights: JobLane = {
  group: 'people',
  atOnce: 1,
  mostWaiting: WAITING_INSIGHTS_PER_PROJECT,
  load: 'too many pages of builds are read at once',
};
const summaries: JobLane = { ...insights, mostWaiting: Infinity };
const whatIfs: JobLane = { ...insights, mostWaiting: WAITING_WHAT_IFS_PER_PROJECT, load: 'too many builds are played at once' };

/** The lanes of reads that are no pages of builds. */
const otherLanes: { readonly [K in keyof Reads]?: JobLane } = {
  buildOutline: suites,
  buildPiece: suites,
  recordedDistribution: suites,
  failedTestPaths: suites,
  completeness: comparisons,
  proof: comparisons,
  receipt: comparisons,
  buildSummary: summaries,
  flags: summaries,
  prepareWhatIf: whatIfs,
  buildsToPlay: whatIfs,
  prepareBuild: whatIfs,
  playVariants: whatIfs,
  playCuts: whatIfs,
};
const laneOf = (job: keyof Reads) => otherLanes[job] ?? insights;

/** Jobs that read what the main thread has not written yet. All of them read recorded runs. */
const READ_QUEUES: readonly (keyof Reads)[] = [
  'completeness',
  'proof',
  'receipt',
  'failedTestPaths',
  'minutes',
  'comparison',
  'timeline',
  'trace',
  'forecast',
  'why',
  'prepareWhatIf',
  'prepareBuild',
];

/** Called for each job with the seconds that it waited for a worker thread and ran in it. */
export type Ran = (job: string, waited: number, took: number) => void;

export interface ReadOptions {
  /** The job is small, so it is done on this thread. */
  isHere?: boolean;
  /** A part of the answer was made before, so the job can no longer be refused. */
  isUnderWay?: boolean;
  /** Called when the turn of the job comes. */
  onTurn?: () => void;
}

/** Does the work that would delay other requests in worker threads. The waiting work is bounded, and projects take turns. */
export class JobRunner {
  readonly #turns: Record<Group, Lanes>;
  readonly #largeBodies: JobLane;
  /** The suites that were sent last. */
  readonly suites = new SuiteCache();

  /** @param most the most threads for nodes */
  constructor(
    readonly store: Store,
    readonly threads: Threads,
    most: number,
    readonly ran: Ran = () => {},
  ) {
    // One task more than there are threads, so that none waits for the main thread.
    this.#turns = { nodes: new Lanes(most + 1), people: new Lanes(2) };
    this.#largeBodies = largeBodies(most);
  }

  /**
   * Prepares a POST. The body is moved to the thread.
   * @param owner the project of the request; null: a worker thread finds it
   * @param sooner called when the turn of the job comes. Returns the prepared request if this thread can prepare it by now, or a smaller input for the
   * worker thread; null: neither
   */
  async post<K extends keyof Posts>(
    job: K,
    input: PostInput<K>,
    owner: number | null,
    hasLeft: () => boolean,
    sooner: () => Soon<Prepared<K> | PostInput<K> | null> = () => null,
  ): Promise<Prepared<K>> {
    // Worker threads read only written times. Times that cannot be written now count later.
    if (job !== 'prepareSubset') await this.store.maintenance.publish('timings', owner === null ? null : ownerOf(owner)).catch(() => {});
    const begin = async (): Promise<JobAnswer> => {
      const found = await sooner();
      if (found && 'prepared' in found) return { value: found };
      const due = found ?? input;
      const buffers = 'body' in due ? due.body.map(({ buffer }) => buffer as ArrayBuffer) : [];
      const answer = (await this.threads.run({ job, input: due }, lane.group, buffers)) as JobAnswer;
      giveMemory(answer.read ?? [], memoryBounds.spareBodies);
      return answer;
    };
    const isLarge = 'body' in input && bytesIn(input.body) >= LARGE_BODY_BYTES;
    const lane = isLarge ? this.#largeBodies : suites;
    const { suite, ...prepared } = (await this.#run(job, lane, { project: owner, isPage: false, hasLeft }, begin)) as Prepared<K>;
    // Strangers take no place of others.
    if (suite && !isPublicSide(prepared.project)) this.suites.add(prepared.project, suite);
    return prepared;
  }

  /** Throws a 503, or for pages a 429, when too much of the asker's project waits. */
  async read<K extends keyof Reads>(
    job: K,
    subject: Parameters<Reads[K]>[1],
    asker: Asker,
    { isHere = false, isUnderWay = false, onTurn = () => {} }: ReadOptions = {},
  ): Promise<Awaited<ReturnType<Reads[K]>>> {
    const lane = asker.isPage && laneOf(job) === suites ? pages : laneOf(job);
    const begin = async () => {
      onTurn();
      await this.#publish(job, asker.project);
      return (await this.threads.run({ job, input: subject }, lane.group)) as JobAnswer;
    };
    const value = isHere ? reads[job](this.store, subject as never) : this.#run(job, lane, asker, begin, isUnderWay);
    return (await value) as Awaited<ReturnType<Reads[K]>>;
  }

  /** Throws the error of `read` when a job would be refused. */
  assertRoom(job: keyof Reads, asker: Asker): void {
    this.#assertRoom(laneOf(job), asker);
  }

  /** The numbers of waiting tasks, running tasks and threads. */
  get load(): { waiting: number; running: number; threads: number } {
    const { nodes, people } = this.#turns;
    return { waiting: nodes.waiting + people.waiting, running: nodes.running + people.running, threads: this.threads.count };
  }

  close(): Promise<void> {
    return this.threads.close();
  }

  async #publish(job: keyof Reads, project: number): Promise<void> {
    const { maintenance } = this.store;
    if (READ_QUEUES.includes(job)) await maintenance.publish('queues');
    if (job === 'prepareWhatIf' || job === 'prepareBuild') await maintenance.publish('timings', project).catch(() => {});
    await maintenance.publish('runs');
  }

  async #run(job: string, lane: JobLane, asker: PostAsker, begin: () => Promise<JobAnswer>, isUnderWay = false): Promise<unknown> {
    if (!isUnderWay) this.#assertRoom(lane, asker);
    const asked = performance.now();
    const answer = await this.#turns[lane.group].run(lane, lineOf(asker), async () => {
      // The client may have left meanwhile.
      if (asker.hasLeft()) throw apiErrors.clientLeft();
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

  #assertRoom(lane: JobLane, asker: PostAsker): void {
    const turns = this.#turns[lane.group];
    const most = asker.isPage ? Math.min(lane.mostWaiting, WAITING_PAGES_PER_PROJECT) : lane.mostWaiting;
    if (turns.waiting < WAITING_JOBS && turns.waitingIn(lane, lineOf(asker)) < most) return;
    const seconds = limits.retryAfterSeconds;
    throw asker.isPage ? apiErrors.tooManyPages(lane.load, seconds) : httpErrors.overloaded('jobs', lane.load, seconds);
  }
}

/** A project of null: a worker thread finds the project of the POST. */
type PostAsker = Omit<Asker, 'project'> & { project: number | null };

/** The pages of a project have a line of their own, so that they take no place of its CI jobs. */
function lineOf({ project, isPage }: PostAsker): number | string | null {
  return isPage ? `pages of ${project}` : project;
}
