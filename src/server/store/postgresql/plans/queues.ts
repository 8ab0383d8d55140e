import { randomInt, randomUUID } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Saving } from '../../../../base/soon.js';
import { type BuildKey, buildDigest, type QueueKey } from '../../../engine/keys.js';
import { memoryBounds } from '../../../engine/memory-bounds.js';
import {
  isBatch,
  type NewQueue,
  type QueueInfo,
  type QueueLoad,
  type Queues,
  type ReadFacts,
  type Verb,
} from '../../../engine/ports/queues.js';
import type { Millis } from '../../../engine/ports/store.js';
import { type Batch, copyOf } from '../../../engine/queue/batch.js';
import type { Answering } from '../../../engine/queue/node.js';
import { Queue, type Shared } from '../../../engine/queue/queue.js';
import { LAST_USE_UPDATE_MILLISECONDS } from '../../../engine/retention.js';
import type { TestFileList } from '../../../engine/suites/compare-lists.js';
import type { Suite } from '../../../engine/suites/suite.js';
import { type BatchSums, keep } from '../../../planning/batching/batch-cost.js';
import type { Mode, PathTimes } from '../../../planning/estimating/estimate.js';
import { encodeQueueFiles } from '../../codecs/file-blocks.js';
import { batchesIn, decodeChanges, encodeChange, encodeChanges } from '../../codecs/queue-changes.js';
import { bytesOf, type CachedQueue, QueueCache, type QueueOptions } from '../../queue-cache.js';
import { CI_RUN_COLUMNS, ciRunValues } from '../ci-runs.js';
import type { Database } from '../connection/database.js';
import { pauseAfterLoss } from '../connection/pause.js';
import { fromJson, otherList } from '../json.js';
import { type Pieces, piecesOf } from './pieces.js';

/**
 * Groups of queues at a time that begin to append to their journals: one that another process was faster with goes on beside them, and pauses
 * when it has lost so often.
 */
const FLIGHTS = 2;
const FLIGHTS_BEFORE_PAUSE = 5;
/** How often a pull waits for the note of another process that a batch was delivered: 1 ms, and each time twice as long, or 2 s together. */
const NOTE_WAITS = 11;

const QUEUE = 'id, name, node_total, guessed, learned, copied_at, copied_runs_before, created_at, runs_before, used_at, list, other_list';

interface QueueRow {
  id: string;
  name: string;
  node_total: number;
  guessed: boolean;
  learned: string | null;
  copied_at: number | null;
  copied_runs_before: number | null;
  created_at: number;
  runs_before: number;
  used_at: number;
  list: string;
  other_list: string | null;
}

function toQueueInfo({ id, name, node_total, created_at, runs_before, used_at, ...row }: QueueRow): QueueInfo {
  const copied = row.copied_at === null ? null : { at: row.copied_at, runs_before: row.copied_runs_before! };
  const list = JSON.parse(row.list) as TestFileList;
  return { id, name, node_total, created_at, runs_before, used_at, copied, list, ...otherList(row.other_list) };
}

/** A queue in memory, as its journal was up to a position. */
interface Open extends CachedQueue {
  position: number;
  /** Of the row at that position: after a failover, another row may be in its place. */
  attempt: number;
  /** A commit of this process is behind its last row: what it tells will not vanish. */
  isConfirmed: boolean;
}

/** Each call has facts and a value of its own. */
type Any = any;

interface Call {
  facts: ReadFacts<Any>;
  verb: Verb<Any, Any>;
  at: Millis;
  /** How often it waited for the note of another process. */
  waits: number;
  resolve: (saving: Saving<Any>) => void;
  reject: (error: unknown) => void;
}

/** The calls on a queue that are made, in their order, while others wait. */
interface Turn {
  key: string;
  calls: Call[];
  /** Null: it is to be read. */
  open: Open | null;
  /** What was being answered before its calls were made. */
  answering: Answering[];
  /** Of the first call, when they took a trip to the database. */
  facts: { value: unknown } | null;
  /** The facts of the first call that is left, when they are being read. */
  reading: Promise<unknown> | null;
  /** How often another process was faster. */
  lost: number;
}

/** What the verbs of a turn did to a queue. */
interface Done {
  turn: Turn;
  open: Open;
  /** Of the first calls, one each. */
  values: unknown[];
  /** Some value tells something of the queue. */
  isTold: boolean;
  changes: Buffer[];
}

const NO_QUEUE: Saving<null> = { value: null, saved: null };

/**
 * The queues of a database, which any number of processes change. A queue is a log of rows, each with the changes of some calls. A process
 * runs the calls on the state that it has, and appends their changes at the next position: the key of the row is the lock. If another process
 * was faster, it reads the queue again, and runs the calls again.
 *
 * A flight appends to many queues with one statement. The calls that come meanwhile are the next flight.
 */
export class PostgresqlQueues implements Queues {
  readonly #cache: QueueCache<Open>;
  /** Queues whose state in memory was wrong: when they are read again, they take over what no journal has. */
  readonly #dropped = new LRUCache<string, NonNullable<Shared['before']>>({ maxSize: Math.floor(memoryBounds.queues / 4) });
  /** Calls that wait for a flight, by the digest of their key. */
  readonly #waiting = new Map<string, Call[]>();
  /** Queues of which calls are being made. */
  readonly #flying = new Set<string>();
  #flights = 0;
  /** The last changes of what projects learned, by project and mode. */
  readonly #learning = new Map<string, Promise<void>>();
  #isScheduled = false;

  constructor(
    readonly database: Database,
    readonly pieces: Pieces,
    readonly options: QueueOptions & { cacheBytes: number },
  ) {
    this.#cache = new QueueCache(options.cacheBytes);
  }

  async find({ digest }: QueueKey): Promise<QueueInfo | null> {
    const [row] = await this.database.read<QueueRow>(`select ${QUEUE} from queues where key = $1`, [digest]);
    return row ? toQueueInfo(row) : null;
  }

  async newest(project: number, build: BuildKey): Promise<QueueInfo | null> {
    const row = await this.#newest(project, build);
    return row && toQueueInfo(row);
  }

  async create(key: QueueKey, { list, files, weights, basis, cuts, guessed, learned, forecast }: NewQueue, at: Millis): Promise<boolean> {
    const id = randomUUID();
    const [parts, bytes] = piecesOf({ files, basis, weights, cuts });
    const { rows } = await this.database.change<{ id: string }>(
      `with known as (
        select id from queues where id = $2
      ), q as (
        insert into queues (key, name, id, project, build, node_total, guessed, learned, created_at, runs_before, used_at, list, forecast)
        select $1, $1, $2, $3, $6, $8, $10, $11, $9, coalesce((select recorded from builds where key = $6), 0), $9, $12, $13
        on conflict (key) do nothing returning id, runs_before
      ), p as (
        insert into pieces (owner, part, bytes) select q.id, v.part, v.bytes from q, unnest($14::int4[], $15::bytea[]) as v (part, bytes)
      ), j as (
        insert into journal (queue, position, attempt, changes) select id, 0, 0, $16::bytea from q
      ), c as (
        insert into ci_runs (${CI_RUN_COLUMNS}) select id, $3, 'queue', id, $4, $5, $6, $7, $8, $9, runs_before from q
      )
      select id from q union all select id from known`,
      [
        ...[key.digest, id, ...ciRunValues(key), at, guessed, learned && JSON.stringify(learned), JSON.stringify(list)],
        ...[JSON.stringify(forecast), parts, bytes, encodeChanges([])],
      ],
    );
    if (rows.length === 0) return false;
    this.pieces.keep(id, files);
    return true;
  }

  async repeat(key: QueueKey, at: Millis): Promise<boolean> {
    const original = await this.#newest(key.project, key.build);
    if (!original) return false;
    const batches = copyOf(await this.batches(original.id)).map(encodeChange);
    await this.database.change(
      `with o as (
        select * from queues where id = $10
      ), q as (
        insert into queues (key, name, id, project, build, node_total, guessed, learned, copied_at, copied_runs_before, created_at, runs_before, used_at, list, forecast)
        select $1, o.name, $2, $3, $6, $8, guessed, learned, $9, coalesce((select recorded from builds where key = $6), 0), created_at, runs_before, $9, list, forecast
        from o on conflict (key) do nothing returning id, copied_runs_before
      ), p as (
        insert into pieces (owner, part, bytes) select q.id, pieces.part, pieces.bytes from q, pieces where owner = $10
      ), j as (
        insert into journal (queue, position, attempt, changes) select id, 0, 0, $11::bytea from q
      )
      insert into ci_runs (${CI_RUN_COLUMNS}) select id, $3, 'queue', id, $4, $5, $6, $7, $8, $9, copied_runs_before from q`,
      [key.digest, randomUUID(), ...ciRunValues(key), at, original.id, encodeChanges(batches)],
    );
    return (await this.find(key)) !== null;
  }

  update<Facts, Value>(
    { digest: key }: QueueKey,
    facts: ReadFacts<Facts>,
    verb: Verb<Facts, Value>,
    at: Millis,
  ): Promise<Saving<Value | null>> {
    return new Promise((resolve, reject) => this.#call(key, { facts, verb, at, waits: 0, resolve, reject }));
  }

  async noteOtherList({ id }: QueueInfo, difference: string): Promise<void> {
    await this.database.change('update queues set other_list = $2 where id = $1 and other_list is null', [id, JSON.stringify(difference)]);
  }

  async batches(queue: string): Promise<Batch[]> {
    return batchesIn((await this.#journalOf(queue)).map(({ changes }) => changes));
  }

  async copiedBatches(queue: string): Promise<Batch[]> {
    const [row] = await this.database.read<{ changes: Buffer }>('select changes from journal where queue = $1 and position = 0', [queue]);
    return row ? decodeChanges(row.changes).filter(isBatch) : [];
  }

  encode(files: PathTimes<Suite>) {
    return encodeQueueFiles(files);
  }

  async learned(project: number, mode: Mode): Promise<BatchSums | null> {
    await this.#learning.get(`${project} ${mode}`);
    return this.#learnedIn(project, mode);
  }

  learn(project: number, mode: Mode, observed: BatchSums): void {
    const add = async () => {
      // What another process adds at the same moment may be lost: it is a part of an average, and the next builds add to that.
      const sums = keep(await this.#learnedIn(project, mode), observed);
      await this.database.change(
        `insert into batch_costs (project, mode, sums) select id, $2, $3 from projects where id = $1 and deleted_at is null
        on conflict (project, mode) do update set sums = excluded.sums`,
        [project, mode, JSON.stringify(sums)],
      );
    };
    const key = `${project} ${mode}`;
    const learning = (this.#learning.get(key) ?? Promise.resolve())
      .then(add)
      .catch(() => {})
      .then(() => {
        if (this.#learning.get(key) === learning) this.#learning.delete(key);
      });
    this.#learning.set(key, learning);
  }

  load(): QueueLoad {
    return this.#cache.load();
  }

  /** Resolves when what projects learned is saved. */
  async close(): Promise<void> {
    await Promise.all(this.#learning.values());
  }

  async #learnedIn(project: number, mode: Mode): Promise<BatchSums | null> {
    const [row] = await this.database.read<{ sums: string }>('select sums from batch_costs where project = $1 and mode = $2', [
      project,
      mode,
    ]);
    return fromJson<BatchSums>(row?.sums);
  }

  async #newest(project: number, build: BuildKey): Promise<QueueRow | null> {
    const [row] = await this.database.read<QueueRow>(`select ${QUEUE} from queues where build = $1 order by number desc limit 1`, [
      buildDigest(project, build),
    ]);
    return row ?? null;
  }

  #journalOf(queue: string): Promise<{ position: number; attempt: number; changes: Buffer }[]> {
    return this.database.read('select position, attempt, changes from journal where queue = $1 order by position', [queue]);
  }

  #call(key: string, call: Call): void {
    const waiting = this.#waiting.get(key);
    if (waiting) waiting.push(call);
    else this.#waiting.set(key, [call]);
    this.#schedule();
  }

  #schedule(): void {
    if (this.#isScheduled || this.#flights >= FLIGHTS) return;
    this.#isScheduled = true;
    // What comes in the same turn of the event loop flies together.
    setImmediate(() => {
      this.#isScheduled = false;
      const turns: Turn[] = [];
      for (const [key, calls] of this.#waiting) {
        if (this.#flying.has(key)) continue;
        turns.push({ key, calls, open: this.#cache.get(key) ?? null, answering: [], facts: null, reading: null, lost: 0 });
        this.#waiting.delete(key);
        this.#flying.add(key);
      }
      if (turns.length > 0) void this.#fly(turns);
    });
  }

  /** Makes calls on some queues. Each queue then goes on by itself with those that are left. */
  async #fly(turns: readonly Turn[]): Promise<void> {
    this.#flights += 1;
    try {
      await this.#make(turns);
    } catch (error) {
      for (const turn of turns) this.#fail(turn, error);
    }
    this.#flights -= 1;
    for (const turn of turns) {
      if (turn.calls.length > 0) void this.#goOn(turn);
      else this.#flying.delete(turn.key);
    }
    if (this.#waiting.size > 0) this.#schedule();
  }

  /** Makes the calls of a turn that are left, when the facts of the first one are read. */
  async #goOn(turn: Turn): Promise<void> {
    const { reading, calls } = turn;
    turn.reading = null;
    try {
      if (reading) turn.facts = { value: await reading };
      // Others are faster each time: let them.
      else if (turn.lost > FLIGHTS_BEFORE_PAUSE) await pauseAfterLoss();
    } catch (error) {
      calls.shift()?.reject(error);
    }
    await this.#fly([turn]);
  }

  async #make(turns: readonly Turn[]): Promise<void> {
    await Promise.all(turns.map(turn => this.#open(turn).catch(error => this.#fail(turn, error))));
    const done = turns.flatMap(turn => (turn.open ? this.#runVerbs(turn, turn.open) : []));
    const landed = await this.#append(done);
    for (const { turn, open, values } of done) {
      if (!landed.has(turn)) continue;
      for (const [i, { resolve }] of turn.calls.splice(0, values.length).entries()) resolve({ value: values[i], saved: null });
      // A verb failed: the queue is to be read again.
      if (!turn.open) continue;
      this.#cache.keep(turn.key, open);
      this.#dropped.delete(turn.key);
    }
  }

  /** Reads the queue of a turn unless it is in memory. Its calls end if it does not exist. */
  async #open(turn: Turn): Promise<void> {
    const { key, calls } = turn;
    turn.open ??= await this.#read(key);
    const at = Math.max(...calls.map(call => call.at));
    if (turn.open && at - turn.open.info.used_at >= LAST_USE_UPDATE_MILLISECONDS) {
      const values = [turn.open.id, at];
      const { count } = await this.database.change('update queues set used_at = greatest(used_at, $2) where id = $1', values);
      turn.open.info.used_at = at;
      if (count === 0) turn.open = null;
    }
    if (turn.open) return;
    this.#cache.delete(key);
    for (const { resolve } of calls.splice(0)) resolve(NO_QUEUE);
  }

  /** Reads a queue back; null: it does not exist. */
  async #read(key: string): Promise<Open | null> {
    const [row] = await this.database.read<QueueRow>(`select ${QUEUE} from queues where key = $1`, [key]);
    if (!row) return null;
    const { id, guessed, learned, node_total } = row;
    const [weights, journal] = await Promise.all([this.pieces.part(id, 'weights'), this.#journalOf(id)]);
    if (journal.length === 0 || !weights) return null;
    const { pullCost, lease } = this.options;
    const outlook = {
      nodeTotal: node_total,
      pullCost,
      isGuessed: guessed,
      learned: fromJson<BatchSums>(learned),
    };
    const queue = new Queue(weights, outlook, batchesIn(journal.map(({ changes }) => changes)), lease, {
      before: this.#dropped.get(key) ?? null,
    });
    const { position, attempt } = journal.at(-1)!;
    return { id, info: toQueueInfo(row), queue, bytes: 0, saving: null, position, attempt, isConfirmed: false };
  }

  /** Runs the verbs of a turn, up to one whose facts take a trip to the database. */
  #runVerbs(turn: Turn, open: Open): Done {
    turn.answering = open.queue.answering;
    const done: Done = { turn, open, values: [], isTold: false, changes: [] };
    for (let i = 0; i < turn.calls.length; ) {
      const call = turn.calls[i]!;
      const { facts, verb, reject } = call;
      try {
        const known = i === 0 && turn.facts ? turn.facts.value : facts(open);
        if (known instanceof Promise) {
          turn.reading = known;
          // Whether it fails is seen when it is waited for.
          known.catch(() => {});
          break;
        }
        const { value, changes, isNote, lacksNote } = verb(open, known, call.waits < NOTE_WAITS);
        done.isTold ||= !isNote;
        if (lacksNote) {
          turn.calls.splice(i, 1);
          turn.facts = null;
          setTimeout(() => this.#call(turn.key, call), 2 ** call.waits);
          call.waits += 1;
          continue;
        }
        done.values.push(value);
        i += 1;
        // A batch may change again before it is written.
        for (const change of changes) done.changes.push(encodeChange(change));
      } catch (error) {
        // The verb may have changed the queue: it is read again, and the other calls are made then.
        reject(error);
        turn.calls.splice(i, 1);
        this.#forget(turn);
        return { ...done, values: [], isTold: false, changes: [] };
      }
    }
    turn.facts = null;
    return done;
  }

  /** Appends what the verbs changed. Returns the turns whose values are valid. The queues of the others are read again. */
  async #append(all: readonly Done[]): Promise<Set<Turn>> {
    const changed = all.filter(({ changes }) => changes.length > 0);
    // What a value tells must be so: nobody may have changed the queue meanwhile.
    const told = all.filter(({ changes, isTold }) => changes.length === 0 && isTold);
    const landed = new Set(all.filter(done => !changed.includes(done) && !told.includes(done)).map(({ turn }) => turn));
    const attempt = randomInt(2 ** 47);
    const isWhole = changed.length === 0 || (await this.#insert(changed, attempt)) === changed.length;
    if (isWhole) for (const done of changed) this.#land(done, attempt, landed);
    const toCheck = isWhole ? told : [...told, ...changed];
    if (toCheck.length === 0) return landed;
    const next = await this.#nextOf(toCheck);
    for (const done of toCheck) {
      const { open, changes, turn } = done;
      const row = next.get(open.id);
      if (changes.length > 0 && row?.attempt === attempt) {
        this.#land(done, attempt, landed);
      } else if (changes.length === 0 && row?.attempt === null) {
        open.isConfirmed = true;
        landed.add(turn);
      } else {
        this.#forget(turn);
        turn.lost += 1;
      }
    }
    return landed;
  }

  /** Inserts a row for each queue. Returns how many were inserted: none where another process was faster, and for a queue that is gone. */
  async #insert(changed: readonly Done[], attempt: number): Promise<number> {
    const { count } = await this.database.change(
      `insert into journal (queue, position, attempt, changes)
      select v.queue, v.position, $1, v.changes from unnest($2::text[], $3::int4[], $4::bytea[], $5::int8[]) as v (queue, position, changes, before)
      cross join lateral (select 1 from journal j where j.queue = v.queue and j.position = v.position - 1 and j.attempt = v.before limit 1) x
      order by v.queue on conflict do nothing`,
      [
        attempt,
        changed.map(({ open }) => open.id),
        changed.map(({ open }) => open.position + 1),
        changed.map(({ changes }) => encodeChanges(changes)),
        changed.map(({ open }) => open.attempt),
      ],
    );
    return count;
  }

  #land({ open, turn }: Done, attempt: number, landed: Set<Turn>): void {
    open.position += 1;
    open.attempt = attempt;
    open.isConfirmed = true;
    open.queue.saved();
    landed.add(turn);
  }

  #fail(turn: Turn, error: unknown): void {
    this.#forget(turn);
    for (const { reject } of turn.calls.splice(0)) reject(error);
  }

  /** Drops the state of a queue, which is not as its journal says. */
  #forget(turn: Turn): void {
    this.#cache.delete(turn.key);
    if (turn.open) {
      // Also one that is too large, because it is read again at once.
      const size = Math.min(bytesOf(turn.open), this.#dropped.maxSize);
      this.#dropped.set(turn.key, { queue: turn.open.queue, answering: turn.answering }, { size });
    }
    turn.open = null;
    turn.facts = null;
    turn.reading?.catch(() => {});
    turn.reading = null;
  }

  /** The attempt of the row after the position that each queue has; null: there is none. A queue that is gone is left out. */
  async #nextOf(all: readonly Done[]): Promise<Map<string, { attempt: number | null }>> {
    // What is told may rest on what another process wrote, and that may have reached no standby yet.
    const isConfirmed = all.every(({ open, changes }) => changes.length > 0 || open.isConfirmed);
    const text = `select v.queue, n.attempt from unnest($1::text[], $2::int4[], $3::int8[]) as v (queue, position, attempt)
      cross join lateral (select 1 from journal j where j.queue = v.queue and j.position = v.position and j.attempt = v.attempt limit 1) x
      left join lateral (select attempt from journal j where j.queue = v.queue and j.position = v.position + 1 limit 1) n on true`;
    const values = [all.map(({ open }) => open.id), all.map(({ open }) => open.position), all.map(({ open }) => open.attempt)];
    type Row = { queue: string; attempt: number | null };
    const rows = await (isConfirmed ? this.database.read<Row>(text, values) : this.database.readDurably<Row>(text, values));
    return new Map(rows.map(row => [row.queue, row]));
  }
}
