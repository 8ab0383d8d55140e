import { shortDigest } from '../../engine/keys.js';
import type { Millis } from '../../engine/ports/store.js';
import { limits } from '../../limits.js';
import { type BranchTimings, measureOn } from '../../planning/estimating/branch-timings.js';
import { fileCount, pathAt, secondsAt, viewOf } from '../codecs/run-times.js';
import { decodeTimings, encodeTimings } from '../codecs/timing-codec.js';
import type { Database } from './connection.js';
import { fromJson, fromNames } from './json.js';

/** A recorded run whose times are not in the timings yet. */
interface Unlearnt {
  entry: number;
  times_turn: number;
  default_branch: string | null;
  run: number;
  /** Null: the run expired. */
  times: Buffer | null;
  at: Millis;
  /** Of its build. */
  id: string;
  names: string;
  began: Millis;
}

/**
 * Has the recorded times count in the timings of their paths. All processes do this for what any of them recorded: each change names the turn of
 * its project that it rests on, so it is made once, and in the order of the recordings.
 */
export class Learner {
  /** Projects that are being learned, or will be soon. */
  readonly #due = new Map<number, NodeJS.Timeout>();
  readonly #learning = new Map<number, Promise<void>>();
  #isClosed = false;

  constructor(readonly database: Database) {}

  /** Notes that something was recorded, which counts shortly afterwards. */
  note(project: number): void {
    if (this.#isClosed || this.#due.has(project)) return;
    const learn = () => {
      this.#due.delete(project);
      // It stays to be learned, by any process.
      this.learn(project).catch(() => {});
    };
    this.#due.set(project, setTimeout(learn, limits.timingFlushMilliseconds).unref());
  }

  /** Resolves when the times of all runs count that were recorded before. */
  learn(project: number): Promise<void> {
    const before = this.#learning.get(project) ?? Promise.resolve();
    const learning = before.catch(() => {}).then(() => this.#learnAll(project));
    this.#learning.set(project, learning);
    const end = () => {
      if (this.#learning.get(project) === learning) this.#learning.delete(project);
    };
    learning.then(end, end);
    return learning;
  }

  /** Resolves when the times of all projects count. */
  async learnAll(): Promise<void> {
    const projects = await this.database.read<{ project: number }>('select distinct project from unlearnt');
    for (const { project } of projects) await this.learn(project);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const due = [...this.#due];
    for (const [, timer] of due) clearTimeout(timer);
    await Promise.allSettled([...due.map(([project]) => this.learn(project)), ...this.#learning.values()]);
  }

  async #learnAll(project: number): Promise<void> {
    while (await this.#learnSome(project));
  }

  /** Learns the oldest runs. Returns whether there were any. */
  async #learnSome(project: number): Promise<boolean> {
    const rows = await this.database.read<Unlearnt>(
      `select unlearnt.entry, projects.times_turn, projects.default_branch, unlearnt.run, runs.times, runs.created_at as at, builds.id, builds.names, builds.created_at as began
      from unlearnt join projects on projects.id = unlearnt.project
      left join runs on runs.build = unlearnt.build and runs.node_index = unlearnt.node_index and runs.run = unlearnt.run
      left join builds on builds.number = unlearnt.build
      where unlearnt.project = $1 order by unlearnt.entry limit $2`,
      [project, limits.runsPerStatement],
    );
    const [first] = rows;
    if (!first) return false;
    const timings = await this.#timingsOf(rows);
    const measured = new Set<number>();
    for (const row of rows) for (const path of measure(row, timings)) measured.add(path);
    const paths = [...measured].sort((a, b) => a - b);
    const seen_at = Math.max(...rows.map(({ at }) => at ?? 0));
    await this.database.change(
      `with p as (
        update projects set times_turn = times_turn + 1 where id = $1 and times_turn = $2 returning id
      ), d as (
        delete from unlearnt using p where unlearnt.project = p.id and unlearnt.entry = any($3::int8[])
      ), l as materialized (
        select paths.number from paths join p on paths.project = p.id where paths.number = any($4::int4[]) order by paths.number for update of paths
      )
      update paths set timings = v.timings from unnest($4::int4[], $5::bytea[]) as v (number, timings) join l on l.number = v.number
      where paths.number = v.number`,
      [
        ...[project, first.times_turn, rows.map(({ entry }) => entry), paths],
        paths.map(path => encodeTimings({ project, seen_at, timings: timings.get(path)! })),
      ],
    );
    return true;
  }

  /** What is known of the paths that runs measured, by their numbers. */
  async #timingsOf(rows: readonly Unlearnt[]): Promise<Map<number, BranchTimings>> {
    const numbers = new Set<number>();
    for (const { times } of rows) if (times) for (const { path } of measurementsIn(times)) numbers.add(path);
    const timings = new Map<number, BranchTimings>();
    await this.database.readBy<{ number: number; timings: Buffer | null }>(
      'select number, timings from paths where number = any($1::int4[])',
      [...numbers],
      ({ number, timings: bytes }) => timings.set(number, bytes ? decodeTimings(bytes).timings : []),
    );
    return timings;
  }
}

/** Applies the times of a run to timings. Returns the paths that it measured, and that have not expired. */
function measure({ times, names, id, at, began, run, default_branch }: Unlearnt, timings: Map<number, BranchTimings>): number[] {
  if (!times) return [];
  const own = shortDigest(fromNames(names).branch);
  const name = fromJson<string>(default_branch);
  const defaultBranch = name === null ? null : shortDigest(name);
  const measurement = { build: shortDigest(id), at, began, run: run === 1 ? ('first' as const) : ('retried' as const), seconds: 0 };
  const measured: number[] = [];
  for (const { path, seconds } of measurementsIn(times)) {
    const known = timings.get(path);
    if (!known) continue;
    measurement.seconds = seconds;
    timings.set(path, measureOn(known, own, defaultBranch, measurement) ?? known);
    measured.push(path);
  }
  return measured;
}

function* measurementsIn(bytes: Buffer): Generator<{ path: number; seconds: number }> {
  const times = viewOf(bytes);
  const files = fileCount({ times: bytes });
  for (let i = 0; i < files; i++) {
    const seconds = secondsAt(times, i);
    if (seconds > 0) yield { path: pathAt(times, i), seconds };
  }
}
