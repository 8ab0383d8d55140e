import { limits } from '../../limits.js';
import type { Millis } from '../ports/store.js';

interface Failures {
  count: number;
  at: Millis;
}

/**
 * Slows down guessing. After some failed sign-ins of one address, or of all, each further one doubles the wait for the next. An attempt
 * counts as wrong when it begins, so that concurrent attempts count, too.
 */
export class SignInThrottle {
  /** By address, least recently failed first. */
  readonly #failures = new Map<string, Failures>();
  #all: Failures = { count: 0, at: 0 };

  /** Begins an attempt. Returns the milliseconds to wait instead; 0: it may be made. */
  attempt(address: string, at: Millis): Millis {
    const own = recent(this.#failures.get(address), at);
    this.#all = recent(this.#all, at);
    const { wrongSignInsPerAddress, signInWaitMilliseconds, wrongSignInsOfAll, signInWaitOfAllMilliseconds } = limits;
    const wait = Math.max(
      waitOf(own, wrongSignInsPerAddress, signInWaitMilliseconds, at),
      waitOf(this.#all, wrongSignInsOfAll, signInWaitOfAllMilliseconds, at),
    );
    if (wait > 0) return wait;
    this.#failures.delete(address);
    this.#failures.set(address, { count: own.count + 1, at });
    if (this.#failures.size > limits.signInAddresses) this.#failures.delete(this.#failures.keys().next().value!);
    this.#all = { count: this.#all.count + 1, at };
    return 0;
  }

  /** Notes that an attempt was right: the address starts again. */
  succeed(address: string): void {
    const own = this.#failures.get(address);
    if (!own) return;
    this.#failures.delete(address);
    this.#all = { ...this.#all, count: Math.max(0, this.#all.count - own.count) };
  }
}

function recent(failures: Failures | undefined, at: Millis): Failures {
  return failures && at - failures.at < limits.wrongSignInMilliseconds ? failures : { count: 0, at };
}

function waitOf({ count, at }: Failures, free: number, longest: Millis, now: Millis): Millis {
  if (count < free) return 0;
  const wait = Math.min(1000 * 2 ** (count - free), longest);
  // The clock may have been set back.
  return Math.max(0, Math.min(wait, at + wait - now));
}
