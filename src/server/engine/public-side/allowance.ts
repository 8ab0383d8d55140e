import { DAY_MILLISECONDS } from '../../../base/time.js';
import type { Millis } from '../ports/store.js';

/** What the public side of a project may do in a day, by UTC: its token stands where anyone can read it. */
export const PUBLIC_REQUESTS_PER_DAY = 100_000;
/** Bytes of the bodies of these requests. */
export const PUBLIC_BYTES_PER_DAY = 134_217_728;
/** Queues and splits that they create. */
export const PUBLIC_PLANS_PER_DAY = 2000;
/** Test files that such a request may list. */
export const PUBLIC_TEST_FILES = 20_000;

/** Requests of a public side that may wait at once for a CI run to become complete. Each looks for it again and again. */
export const PUBLIC_WAITS = 50;

interface Used {
  requests: number;
  bytes: number;
  plans: number;
}

/** Counts what the public sides of projects do in a day. The counts are in memory: a start begins to count again, and each process has its own. */
export class PublicAllowance {
  readonly #used = new Map<number, Used>();
  readonly #waits = new Map<number, number>();
  #day = -Infinity;

  /** Counts a request, also one that is refused afterwards. Returns what is used up, if it is one too many; null: it is not. */
  takeRequest(side: number, bytes: number, at: Millis): string | null {
    const used = this.#today(side, at);
    if (used.requests >= PUBLIC_REQUESTS_PER_DAY) return `${PUBLIC_REQUESTS_PER_DAY} requests`;
    if (used.bytes + bytes > PUBLIC_BYTES_PER_DAY) return `${PUBLIC_BYTES_PER_DAY} bytes`;
    used.requests += 1;
    used.bytes += bytes;
    return null;
  }

  /** Returns what is used up, if no queue and no split may be created any more; null: one may. */
  lackOfPlans(side: number, at: Millis): string | null {
    return this.#today(side, at).plans < PUBLIC_PLANS_PER_DAY ? null : `${PUBLIC_PLANS_PER_DAY} queues and splits`;
  }

  /** Counts a queue or a split that was created. */
  addPlan(side: number, at: Millis): void {
    this.#today(side, at).plans += 1;
  }

  /** Counts a request that waits. False: too many do already. */
  beginWait(side: number): boolean {
    const waits = this.#waits.get(side) ?? 0;
    if (waits >= PUBLIC_WAITS) return false;
    this.#waits.set(side, waits + 1);
    return true;
  }

  /** Notes that a request waits no longer. */
  endWait(side: number): void {
    this.#waits.set(side, this.#waits.get(side)! - 1);
  }

  #today(side: number, at: Millis): Used {
    const day = Math.floor(at / DAY_MILLISECONDS);
    if (day !== this.#day) this.#used.clear();
    this.#day = day;
    let used = this.#used.get(side);
    if (!used) this.#used.set(side, (used = { requests: 0, bytes: 0, plans: 0 }));
    return used;
  }
}
