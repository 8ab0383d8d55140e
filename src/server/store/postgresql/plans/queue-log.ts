import { randomInt } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { divide } from '../../../../base/divide.js';
import type { Saving } from '../../../../base/soon.js';
import { memoryBounds } from '../../../engine/memory-bounds.js';
import type { OpenQueue, QueueLoad, ReadFacts, Verb } from '../../../engine/ports/queues.js';
import type { Millis } from '../../../engine/ports/store.js';
import type { Answering } from '../../../engine/queue/node.js';
import { Queue, type Shared } from '../../../engine/queue/queue.js';
import { LAST_USE_UPDATE_MILLISECONDS } from '../../../engine/retention.js';
import type { BatchSums } from '../../../planning/batching/batch-cost.js';
import { allFirst } from '../../../planning/batching/first-files.js';
import { batchesIn, encodeChange, encodeChanges } from '../../codecs/queue-changes.js';
import { bytesOf, type CachedQueue, QueueCache, type QueueOptions } from '../../queue-cache.js';
import type { Database } from '../connection/database.js';
import { pauseAfterLoss } from '../connection/pause.js';
import { fromJson } from '../json.js';
import type { Pieces } from './pieces.js';
import { type JournalRow, journalOf, journalsOf, queueRow, toQueueInfo } from './queue-rows.js';

/**
 * Groups of queues at a time that begin to append to their journals. A queue that lost against another process goes on beside them, and pauses
 * when it has lost so often.
 */
const FLIGHTS = 2;
const FLIGHTS_BEFORE_PAUSE = 5;
/** Files of the queues that lost and go on in one flight: to open a queue of 1,000 again takes a quarter of a millisecond. */
const REOPENED_FILES = 8000;
/** A queue of fewer files counts as one of so many. */
const LEAST_REOPENED_FILES = 1000;
/** Times that a pull waits for the note of another process that a batch was delivered: 1 ms, and each time twice as long, or 2 s together. */
const NOTE_WAITS = 11;

/** A queue in memory, as its journal was up to a position. */
interface Open extends CachedQueue {
  position: number;
  /** Of the row at that position: after a failover, another row may be in its place. */
  attempt: number;
  /** A commit of this process is behind the last row, so the row will not vanish. */
  isConfirmed: boolean;
}

/** Each call has facts and a value of its own. */
type Any = any;

interface Call {
  facts: ReadFacts<Any>;
  verb: Verb<Any, Any>;
  at: Millis;
  /** Times that it waited for the note of another process. */
  waits: number;
  resolve: (saving: Saving<Any>) => void;
  reject: (error: unknown) => void;
}

/** The calls on a queue that are made, in their order, while later ones wait for the next turn. */
interface Turn {
  readonly key: string;
  readonly calls: Call[];
  state: State;
  /** Times that another process was faster. */
  lost: number;
}

type State =
  /** The queue is to be read. */
  | { is: 'unread' }
  /** The batches of the queue are to be read: another process appended to its journal. */
  | { is: 'behind'; open: Open }
  /** The verbs can run. The facts are those of the first call, if reading them took a trip to the database. */
  | { is: 'open'; open: Open; facts: { value: unknown } | null }
  | Ran
  /** The facts of the first call that is left are being read. */
  | { is: 'reading'; open: Open; facts: Promise<unknown> };

/** The verbs ran, and what they changed is not in the journal yet. */
interface Ran {
  is: 'ran';
  open: Open;
  turn: Turn;
  /** Batches that were being answered before the verbs ran. */
  answering: Answering[];
  /** Of the first calls, one each. */
  values: unknown[];
  /** Some value depends on the state of the queue. */
  mustBeNewest: boolean;
  changes: Buffer[];
  /** The facts of the next call, which are being read; null: each call has its value. */
  facts: Promise<unknown> | null;
}

const UNREAD: State = { is: 'unread' };
const NO_QUEUE: Saving<null> = { value: null, saved: null };

/**
 * The log of each queue, which any number of processes append to. A row of the journal has the changes of some calls. A process runs the calls
 * on the state that it has, and appends their changes at the next position: the key of the row is the lock.
 *
 * The states of a turn, which is some calls on one queue:
 *
 *                 queue read              verbs run            values resolve
 *       unread ───────────────▶ open ───────────────▶ ran ───────────────────▶ over
 *         │                    ▲  ▲                   │ │
 *         │ no such queue      │  │ facts read        │ │ values resolve, and a call is left whose facts the database has
 *         ▼       journal read │  └───── reading ◀────│─┘
 *       over        behind ────┘                      │
 *                     ▲                               │
 *                     └───────────────────────────────┘
 *                       refused: another process appended first, so that the row is its row
 *
 * A verb that throws leads back to `unread`, and so does a failover that takes the row that the state rests on. A statement that fails ends the
 * turn: its callers get the error.
 *
 * A flight appends to many queues with one statement. The calls that come meanwhile are the next flight.
 */
export class QueueLog {
  readonly #cache: QueueCache<Open>;
  /** Queues whose state in memory was wrong: when they are read again, they take over what no journal has. */
  readonly #dropped = new LRUCache<string, NonNullable<Shared['before']> & { id: string }>({
    maxSize: Math.floor(memoryBounds.queues / 4),
  });
  /** Calls that wait for a flight, by the digest of their key. */
  readonly #waiting = new Map<string, Call[]>();
  /** Queues that have a turn. */
  readonly #flying = new Set<string>();
  #flights = 0;
  #isScheduled = false;

  constructor(
    readonly database: Database,
    readonly pieces: Pieces,
    readonly options: QueueOptions & { cacheBytes: number },
  ) {
    this.#cache = new QueueCache(options.cacheBytes);
  }

  /** As in the port, for the queue with the digest of a key. */
  update<Facts, Value>(key: string, facts: ReadFacts<Facts>, verb: Verb<Facts, Value>, at: Millis): Promise<Saving<Value | null>> {
    return new Promise((resolve, reject) => this.#call(key, { facts, verb, at, waits: 0, resolve, reject }));
  }

  load(): QueueLoad {
    return this.#cache.load();
  }

  /** The queues in memory, and those that are to be read again: only this process may have heard of their nodes. */
  get open(): Iterable<Pick<OpenQueue, 'id' | 'queue'>> {
    return [...this.#dropped.values(), ...this.#cache.values()];
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
        const open = this.#cache.get(key);
        turns.push({ key, calls, state: open ? { is: 'open', open, facts: null } : UNREAD, lost: 0 });
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
      const journals = await this.#journalsOf(turns);
      await Promise.all(turns.map(turn => this.#open(turn, journals).catch(error => this.#fail(turn, error))));
      await this.#append(turns.flatMap(turn => this.#runVerbs(turn) ?? []));
    } catch (error) {
      for (const turn of turns) this.#fail(turn, error);
    }
    this.#flights -= 1;
    const behind: { turn: Turn; files: number }[] = [];
    for (const turn of turns) {
      const { calls, state, lost, key } = turn;
      if (calls.length === 0) this.#flying.delete(key);
      else if (state.is === 'behind' && lost <= FLIGHTS_BEFORE_PAUSE) behind.push({ turn, files: state.open.queue.weights.length });
      else void this.#goOn(turn);
    }
    for (const group of divide(behind, REOPENED_FILES, ({ files }) => Math.max(LEAST_REOPENED_FILES, files)))
      void this.#fly(group.map(({ turn }) => turn));
    if (this.#waiting.size > 0) this.#schedule();
  }

  /** The journals of the queues of which only the batches are to be read. */
  async #journalsOf(turns: readonly Turn[]): Promise<Map<string, JournalRow[]>> {
    const behind = turns.flatMap(({ state }) => (state.is === 'behind' ? state.open.id : []));
    return behind.length > 0 ? journalsOf(this.database, behind) : new Map();
  }

  /** Makes the calls of a turn that are left, when the facts of the first one are read. */
  async #goOn(turn: Turn): Promise<void> {
    const { state, calls } = turn;
    if (state.is === 'reading') {
      const toFacts = (value: unknown) => ({ value });
      const facts = await state.facts.then(toFacts, error => {
        calls.shift()!.reject(error);
        return null;
      });
      turn.state = { is: 'open', open: state.open, facts };
    }
    // Others are faster each time: let them.
    else if (turn.lost > FLIGHTS_BEFORE_PAUSE) await pauseAfterLoss();
    await this.#fly([turn]);
  }

  /** Reads the queue of a turn unless it is in memory. Its calls end if it does not exist. */
  async #open(turn: Turn, journals: ReadonlyMap<string, JournalRow[]>): Promise<void> {
    const { key, calls, state } = turn;
    if (state.is === 'unread' || state.is === 'behind') {
      const again = state.is === 'behind' ? this.#opened(key, state.open, state.open.queue, journals.get(state.open.id) ?? []) : null;
      const open = again ?? (await this.#read(key));
      if (open) turn.state = { is: 'open', open, facts: null };
    }
    if (turn.state.is === 'open' && (await this.#use(turn.state.open, calls))) return;
    turn.state = UNREAD;
    this.#cache.delete(key);
    for (const { resolve } of calls.splice(0)) resolve(NO_QUEUE);
  }

  /** Notes that a queue is in use, unless that was noted a short while ago. False: it is gone. */
  async #use({ id, info }: Open, calls: readonly Call[]): Promise<boolean> {
    const at = Math.max(...calls.map(call => call.at));
    if (at - info.used_at < LAST_USE_UPDATE_MILLISECONDS) return true;
    const { count } = await this.database.change('update queues set used_at = greatest(used_at, $2) where id = $1', [id, at]);
    info.used_at = at;
    return count > 0;
  }

  /** Reads a queue back; null: it does not exist. */
  async #read(key: string): Promise<Open | null> {
    const row = await queueRow(this.database, key);
    if (!row) return null;
    const { id, guessed, learned, node_total } = row;
    const [weights, first, journal] = await Promise.all([
      this.pieces.part(id, 'weights'),
      this.pieces.part(id, 'first'),
      journalOf(this.database, id),
    ]);
    const { pullCost } = this.options;
    const facts = { nodeTotal: node_total, pullCost, isGuessed: guessed, learned: fromJson<BatchSums>(learned) };
    const parameters = first ? { ...facts, first: allFirst(first) } : facts;
    return weights && this.#opened(key, { id, info: toQueueInfo(row) }, { weights, parameters }, journal);
  }

  /** Opens a queue with the batches in its journal; null: it is gone. */
  #opened(
    key: string,
    { id, info }: Pick<Open, 'id' | 'info'>,
    { weights, parameters }: Pick<Queue, 'weights' | 'parameters'>,
    journal: readonly JournalRow[],
  ): Open | null {
    const last = journal.at(-1);
    if (!last) return null;
    const batches = batchesIn(journal.map(({ changes }) => changes));
    const queue = new Queue(weights, parameters, batches, this.options.lease, { before: this.#dropped.get(key) ?? null });
    return { id, info, queue, bytes: 0, saving: null, position: last.position, attempt: last.attempt, isConfirmed: false };
  }

  /** Runs the verbs of a turn, up to one whose facts take a trip to the database. Null: the queue is gone, or is to be read again. */
  #runVerbs(turn: Turn): Ran | null {
    const { state, calls, key } = turn;
    if (state.is !== 'open') return null;
    const { open } = state;
    const ran: Ran = { is: 'ran', open, turn, answering: open.queue.answering, values: [], mustBeNewest: false, changes: [], facts: null };
    turn.state = ran;
    let read = state.facts;
    for (let i = 0; i < calls.length; ) {
      const call = calls[i]!;
      try {
        const known = read ? read.value : call.facts(open);
        read = null;
        if (known instanceof Promise) {
          ran.facts = known;
          // Whether it fails is seen when it is waited for.
          known.catch(() => {});
          break;
        }
        const { value, changes, isNote, lacksNote } = call.verb(open, known, call.waits < NOTE_WAITS);
        ran.mustBeNewest ||= !isNote;
        if (lacksNote) {
          calls.splice(i, 1);
          setTimeout(() => this.#call(key, call), 2 ** call.waits);
          call.waits += 1;
          continue;
        }
        ran.values.push(value);
        i += 1;
        // A batch may change again before it is written.
        for (const change of changes) ran.changes.push(encodeChange(change));
      } catch (error) {
        // The verb may have changed the queue: it is read again, and the other calls are made then.
        call.reject(error);
        calls.splice(i, 1);
        this.#forget(turn);
        return null;
      }
    }
    return ran;
  }

  /**
   * Appends what the verbs changed. Refused is the process whose state is not the newest: another one has appended to the queue, or the row
   * that the state rests on has vanished with a failover. Its calls run again when the queue is read again.
   */
  async #append(all: readonly Ran[]): Promise<void> {
    const changed = all.filter(({ changes }) => changes.length > 0);
    const unchanged = all.filter(({ changes }) => changes.length === 0);
    for (const ran of unchanged) if (!ran.mustBeNewest) this.#land(ran);
    const attempt = randomInt(2 ** 47);
    const isWhole = changed.length === 0 || (await this.#insert(changed, attempt)) === changed.length;
    if (isWhole) for (const ran of changed) this.#confirm(ran, attempt);
    const toCheck = unchanged.filter(({ mustBeNewest }) => mustBeNewest);
    if (!isWhole) toCheck.push(...changed);
    if (toCheck.length === 0) return;
    const next = await this.#nextOf(toCheck);
    for (const ran of toCheck) {
      const expected = ran.changes.length > 0 ? attempt : null;
      if (next.get(ran.open.id) === expected) this.#confirm(ran, attempt);
      else {
        this.#forget(ran.turn);
        if (next.has(ran.open.id)) ran.turn.state = { is: 'behind', open: ran.open };
        ran.turn.lost += 1;
      }
    }
  }

  /** Inserts a row for each queue. Returns how many were inserted: none where another process was faster, and for a queue that is gone. */
  async #insert(changed: readonly Ran[], attempt: number): Promise<number> {
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

  /** The attempt of the row after the position that each queue has; null: there is none. A queue that is gone is left out. */
  async #nextOf(all: readonly Ran[]): Promise<Map<string, number | null>> {
    // A value may depend on what another process wrote, and that may have reached no standby yet.
    const isConfirmed = all.every(({ open, changes }) => changes.length > 0 || open.isConfirmed);
    const text = `select v.queue, n.attempt from unnest($1::text[], $2::int4[], $3::int8[]) as v (queue, position, attempt)
      cross join lateral (select 1 from journal j where j.queue = v.queue and j.position = v.position and j.attempt = v.attempt limit 1) x
      left join lateral (select attempt from journal j where j.queue = v.queue and j.position = v.position + 1 limit 1) n on true`;
    const values = [all.map(({ open }) => open.id), all.map(({ open }) => open.position), all.map(({ open }) => open.attempt)];
    type Row = { queue: string; attempt: number | null };
    const rows = await (isConfirmed ? this.database.read<Row>(text, values) : this.database.readDurably<Row>(text, values));
    return new Map(rows.map(({ queue, attempt }) => [queue, attempt]));
  }

  /** The state of a queue is the newest, and will not vanish. Its changes have the next position. */
  #confirm(ran: Ran, attempt: number): void {
    const { open, changes } = ran;
    open.isConfirmed = true;
    if (changes.length > 0) {
      open.position += 1;
      open.attempt = attempt;
      open.queue.saved();
    }
    this.#land(ran);
  }

  /** Resolves the calls that have values. */
  #land({ turn, open, values, facts }: Ran): void {
    for (const [i, { resolve }] of turn.calls.splice(0, values.length).entries()) resolve({ value: values[i], saved: null });
    turn.state = facts ? { is: 'reading', open, facts } : { is: 'open', open, facts: null };
    this.#cache.keep(turn.key, open);
    this.#dropped.delete(turn.key);
  }

  #fail(turn: Turn, error: unknown): void {
    this.#forget(turn);
    for (const { reject } of turn.calls.splice(0)) reject(error);
  }

  /** Drops the state of a queue, which is not as its journal says. */
  #forget(turn: Turn): void {
    const { key, state } = turn;
    this.#cache.delete(key);
    turn.state = UNREAD;
    if (state.is === 'unread' || state.is === 'behind') return;
    const { id, queue } = state.open;
    // Also one that is too large, because it is read again at once.
    const size = Math.min(bytesOf(state.open), this.#dropped.maxSize);
    this.#dropped.set(key, { id, queue, answering: state.is === 'ran' ? state.answering : queue.answering }, { size });
  }
}
