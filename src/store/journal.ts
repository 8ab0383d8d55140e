import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Batch } from '../engine/queue.js';
import { limits } from '../limits.js';
import { inTurns } from './in-turns.js';
import { written } from './commit.js';
import type { Store } from './open.js';
import { Repeated } from './repeated.js';

/** A batch as it is now, or the seq of one that was taken back. */
export type Change = Batch | number;

/** What queues changed in one turn of the event loop, in that order. */
export type TurnRecord = [queue: string, change: Change][];

/** Changes that are written together. */
export interface Turn {
  readonly changes: TurnRecord;
  /** Settled when these and all before them are on disk; rejects with a 503 when they are not. */
  saved: Promise<void>;
  isSettled: boolean;
}

/**
 * What was handed out, as it happens: one record for all queues that changed in a turn, because a commit costs by the places
 * that it writes to. Now and then that is filed by queue, under `batches`; until then memory has it, too.
 */
export class Journal {
  #turn: Turn | null = null;
  /** What is on disk in sequence only, by queue; and what is being filed. */
  #unfiled = new Map<string, Change[]>();
  #filing: ReadonlyMap<string, Change[]> = new Map();
  /** The last record written, and the last one filed. */
  #last = 0;
  #filed = 0;
  #next: number | null = null;
  /** What failed last. */
  #failure: { error: unknown } | null = null;
  #saving: Promise<unknown> = Promise.resolve();
  readonly #files = new Repeated(() => this.#file());
  #timer: NodeJS.Timeout | null = null;

  constructor(readonly store: Pick<Store, 'meta' | 'journalTurns' | 'batches'>) {}

  /** Adds a change to the turn that is under way. */
  write(queue: string, change: Change): Turn {
    const turn = (this.#turn ??= this.#begin());
    turn.changes.push([queue, change]);
    return turn;
  }

  /** What of a queue is not filed yet, oldest first; some of it may be filed by now. */
  unfiledOf(queue: string): readonly Change[] {
    return [...(this.#filing.get(queue) ?? []), ...(this.#unfiled.get(queue) ?? [])];
  }

  /** Resolves when all that was written before is filed. */
  async file(): Promise<void> {
    await this.#saving;
    await (this.#unfiled.size === 0 ? this.#files.last : this.#files.again());
  }

  /** Files what a process before this one left. */
  async fileRest(): Promise<void> {
    this.#read();
    for (const { value } of this.store.journalTurns.getRange({ start: this.#filed + 1 })) this.#keep(value);
    await this.file();
  }

  #begin(): Turn {
    const turn: Turn = { changes: [], saved: Promise.resolve(), isSettled: false };
    turn.saved = this.#save(turn).finally(() => (turn.isSettled = true));
    // Whoever made the changes is told.
    this.#saving = turn.saved.catch(() => {});
    return turn;
  }

  async #save(turn: Turn): Promise<void> {
    const before = this.#failure;
    await nextTurn();
    this.#turn = null;
    const { changes } = turn;
    const number = this.#take();
    try {
      await written(this.store.journalTurns.put(number, changes));
    } catch (error) {
      throw (this.#failure = { error }).error;
    }
    this.#last = number;
    this.#keep(changes);
    this.#fileSoon();
    // It was decided upon on top of what is not on disk.
    if (this.#failure !== before) throw this.#failure!.error;
  }

  #keep(changes: TurnRecord): void {
    for (const [queue, change] of changes) {
      const of = this.#unfiled.get(queue);
      if (of) of.push(change);
      else this.#unfiled.set(queue, [change]);
    }
  }

  #take(): number {
    if (this.#next === null) this.#read();
    return this.#next!++;
  }

  #read(): void {
    const { meta, journalTurns } = this.store;
    this.#filed = meta.get('filed') ?? 0;
    const [last = 0] = journalTurns.getKeys({ reverse: true, limit: 1 });
    this.#last = Math.max(last, this.#filed);
    this.#next = this.#last + 1;
  }

  async #file(): Promise<void> {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
    const { meta, journalTurns, batches } = this.store;
    const last = this.#last;
    this.#filing = this.#unfiled;
    this.#unfiled = new Map();
    try {
      await inTurns(this.#filing, ([queue, changes]) => batches.put([queue, last], changes));
      // In one commit with the first that goes: what is left of them was filed.
      void meta.put('filed', last);
      await inTurns([...journalTurns.getKeys({ end: last + 1 })], turn => journalTurns.remove(turn));
      this.#filed = last;
    } catch (error) {
      // Later, with what was written meanwhile.
      const meanwhile = this.#unfiled;
      this.#unfiled = new Map([...this.#filing]);
      for (const [queue, changes] of meanwhile) for (const change of changes) this.#keep([[queue, change]]);
      this.#fileSoon();
      throw error;
    } finally {
      this.#filing = new Map();
    }
  }

  #fileSoon(): void {
    if (this.#timer) return;
    const file = () => void this.file().catch(() => {});
    this.#timer = setTimeout(file, limits.filingMilliseconds).unref();
  }
}
