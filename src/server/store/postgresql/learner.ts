import { shortDigest } from '../../engine/keys.js';
import type { Millis } from '../../engine/ports/store.js';
import { type BranchTimings, measureOn } from '../../planning/estimating/branch-timings.js';
import { FILE_BYTES, fileCount, pathAt, secondsAt, viewOf } from '../codecs/run-times.js';
import { decodeTimings, encodeTimings } from '../codecs/timing-codec.js';
import type { Database } from './connection/database.js';
import { lookUp } from './connection/look-up.js';
import { pauseAfterLoss } from './connection/pause.js';
import { PATHS_PER_STATEMENT } from './connection/sql.js';
import { fromJson, fromNames } from './json.js';
import { PATHS_PER_CHANGE } from './paths.js';

/** Runs that one statement learns. */
const LEARNT_PER_STATEMENT = 500;
/** Runs that one statement learns come together within this time. */
const TIMING_FLUSH_MILLISECONDS = 250;

/** A recorded run whose times are not in the timings yet, or the next part of it. */
interface Unlearnt {
  entry: number;
  times_turn: number;
  default_branch: string | null;
  run: number;
  /** True if files are left behind those of `times`. */
  is_part: boolean;
  /** Of the first files that are left, at most `PATHS_PER_CHANGE`; null: the run expired. */
  times: Buffer | null;
  at: Millis;
  /** Of its build. */
  id: string;
  names: string;
  began: Millis;
  /** Number of runs that were looked at, of which the first are here. */
  seen: number;
}

/** The looks for what is unlearnt of a project. */
interface Looks {
  current: Promise<void>;
  /** Begins when the current one has ended. */
  next: Promise<void> | null;
}

/**
 * Has the recorded times count in the timings of their paths. All processes do this for what any of them recorded: each change names the turn of
 * its project that it rests on, so it is made once, and in the order of the recordings.
 */
export class Learner {
  /** Projects of which something was recorded that is learned soon. */
  readonly #due = new Map<number, NodeJS.Timeout>();
  readonly #looks = new Map<number, Looks>();
  #isClosed = false;

  constructor(readonly database: Database) {}

  /** Notes that something was recorded, which counts shortly afterwards. */
  note(project: number): void {
    if (this.#isClosed || this.#due.has(project)) return;
    const learn = () => {
      this.#due.delete(project);
      if (this.#looks.has(project)) this.note(project);
      // It stays to be learned, by any process.
      else this.#look(project, false).catch(() => {});
    };
    // At random, so that one of the processes that record runs of the project learns them for all.
    this.#due.set(project, setTimeout(learn, TIMING_FLUSH_MILLISECONDS * (1 + Math.random())).unref());
  }

  /** Resolves when the times of all runs count that were recorded before. */
  learn(project: number): Promise<void> {
    const looks = this.#looks.get(project);
    // A look that begins after this call sees all of these runs.
    if (looks) return (looks.next ??= looks.current.catch(() => {}).then(() => this.#look(project, true)));
    return this.#look(project, true);
  }

  /** Resolves when the times of all projects count. */
  async learnAll(): Promise<void> {
    const projects = await this.database.read<{ project: number }>('select distinct project from unlearnt');
    for (const { project } of projects) await this.learn(project);
  }

  /** Ends learning. Runs that are not learned yet stay to be learned, by any process. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const timer of this.#due.values()) clearTimeout(timer);
    await Promise.allSettled(Array.from(this.#looks.values(), ({ current, next }) => next ?? current));
  }

  /** @param isUrgent it goes on while another process learns the same */
  #look(project: number, isUrgent: boolean): Promise<void> {
    const looks: Looks = { current: this.#learnAll(project, isUrgent), next: null };
    this.#looks.set(project, looks);
    const end = () => {
      if (!looks.next) this.#looks.delete(project);
    };
    looks.current.then(end, end);
    return looks.current;
  }

  async #learnAll(project: number, isUrgent: boolean): Promise<void> {
    while (isUrgent || !this.#isClosed) {
      const learned = await this.#learnSome(project);
      if (learned === 'all') return;
      if (learned === 'lost' && !isUrgent) return this.note(project);
      if (learned === 'lost') await pauseAfterLoss();
    }
  }

  /**
   * Learns the oldest runs, or the next part of large ones: what takes some milliseconds. `all`: there were no others. `lost`: another process
   * did that.
   */
  async #learnSome(project: number): Promise<'some' | 'lost' | 'all'> {
    const most = PATHS_PER_CHANGE;
    const rows = await this.database.read<Unlearnt>(
      `select entry, times_turn, default_branch, run, coalesce(files > $3, false) as is_part, substr(times, $4 * learnt + 1, $4 * $3) as times, at, builds.id, names,
        builds.created_at as began, seen
      from (
        select u.*, sum(least(files, $3)) over (order by entry) as sum, row_number() over (order by entry) as nth, (count(*) over ())::int4 as seen
        from (
          select u.*, times, r.created_at as at, test_files - learnt as files from (select * from unlearnt where project = $1 order by entry limit $2) u
          left join runs r on r.build = u.build and r.node_index = u.node_index and r.run = u.run
        ) u
      ) u join projects on projects.id = project left join builds on builds.number = build
      where coalesce(sum, 0) <= $5 or nth = 1 order by entry`,
      [project, LEARNT_PER_STATEMENT, most, FILE_BYTES, PATHS_PER_STATEMENT],
    );
    const [first] = rows;
    if (!first) return 'all';
    const { runs, numbers } = firstOf(rows, most);
    const timings = await this.#timingsOf(numbers);
    const measured = new Set<number>();
    for (const run of runs) for (const path of measure(run, timings)) measured.add(path);
    const seen_at = Math.max(...runs.map(({ at }) => at ?? 0));
    const paths = [...measured];
    const encoded = paths.map(path => encodeTimings({ project, seen_at, timings: timings.get(path)! }));
    const learned = first.is_part ? `update unlearnt set learnt = learnt + ${most} from p` : 'delete from unlearnt using p';
    let end = 1;
    const { rows: turns } = await this.database.changeMany(
      `with p as (
        update projects set times_turn = times_turn + 1 where id = $1 and times_turn = $2 returning id
      ), u as (
        ${learned} where unlearnt.project = p.id and entry = any($3::int8[])
      ), l as materialized (
        select k.number, first, bytes from (
          select v.*, key from p cross join unnest($4::int4[], $5::int4[], $6::int4[]) as v (number, first, bytes)
          cross join lateral (select key from paths where number = v.number and project = p.id limit 1) k order by key
        ) k cross join lateral (select from paths where number = k.number limit 1 for update) l
      ), t as (
        update paths set timings = substr($7::bytea, first, bytes) from l where paths.number = l.number
      )
      select id from p`,
      [
        ...[project, first.times_turn, runs.map(({ entry }) => entry), paths],
        ...[encoded.map(({ length }) => (end += length) - length), encoded.map(({ length }) => length), Buffer.concat(encoded)],
      ],
    );
    if (turns.length === 0) return 'lost';
    return !first.is_part && runs.length === first.seen && first.seen < LEARNT_PER_STATEMENT ? 'all' : 'some';
  }

  /** Reads the timings of paths, by their numbers. */
  async #timingsOf(numbers: ReadonlySet<number>): Promise<Map<number, BranchTimings>> {
    const timings = new Map<number, BranchTimings>();
    await this.database.readBy<{ number: number; timings: Buffer | null }>(
      lookUp('number, timings', 'paths', 'number', 'int4'),
      [...numbers],
      ({ number, timings: bytes }) => timings.set(number, bytes ? decodeTimings(bytes).timings : []),
    );
    return timings;
  }
}

/**
 * The first of some runs, which one change takes together, and the numbers of their paths: runs whose paths are few in all, or parts of runs that
 * have the same paths. A later run with other paths could have some that an earlier one has in its next parts.
 */
function firstOf(rows: readonly Unlearnt[], most: number): { runs: Unlearnt[]; numbers: Set<number> } {
  const runs: Unlearnt[] = [];
  const numbers = new Set<number>();
  for (const row of rows) {
    const paths = Array.from(measurementsIn(row.times ?? Buffer.alloc(0)), ({ path }) => path);
    const added = paths.filter(path => !numbers.has(path));
    const isSame = added.length === 0 && paths.length === numbers.size;
    const fits = row.is_part ? isSame : numbers.size + added.length <= most;
    if (runs.length > 0 && (row.is_part !== runs[0]!.is_part || !fits)) break;
    runs.push(row);
    for (const path of added) numbers.add(path);
  }
  return { runs, numbers };
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
