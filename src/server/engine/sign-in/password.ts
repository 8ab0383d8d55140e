import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto';
import { limits } from '../../../protocol/limits.js';
import type { Password, ScryptCost } from '../ports/sign-ins.js';
import type { Millis } from '../ports/store.js';
import type { Values } from '../ports/values.js';
import { Refusal } from '../refusal.js';

/** Failed sign-ins of an address after which each further one doubles its wait. */
export const WRONG_SIGN_INS_PER_ADDRESS = 5;
/** The longest wait of an address. */
const SIGN_IN_WAIT_MILLISECONDS = 900_000;
/** Failed sign-ins of all addresses after which each further one doubles the wait of all. */
export const WRONG_SIGN_INS_OF_ALL = 50;
/** The longest wait of all addresses. */
const SIGN_IN_WAIT_OF_ALL_MILLISECONDS = 10_000;
/** Time without a failed sign-in after which the earlier ones are forgotten. */
const WRONG_SIGN_IN_MILLISECONDS = 3_600_000;
/** Addresses whose failed sign-ins are counted. */
const SIGN_IN_ADDRESSES = 10_000;

/** 32 MiB and about 0.2 s of one thread: one of the parameter sets that OWASP recommends. */
export const PASSWORD_COST: ScryptCost = { N: 2 ** 15, r: 8, p: 3 };
const HASH_BYTES = 32;

/** Derives what is stored of a password. Throws a Refusal when it is too short or too long. */
export async function hashPassword(text: string, at: Millis, cost = PASSWORD_COST): Promise<Password> {
  const { length } = text;
  const { passwordMinCharacters: min, passwordMaxCharacters: max } = limits;
  if (length < min || length > max)
    throw new Refusal(`cannot set the password: it has ${length} characters; it must have ${min} to ${max}`);
  const salt = randomBytes(16);
  return { salt: salt.toString('hex'), hash: (await derive(text, salt, cost)).toString('hex'), cost, created_at: at };
}

/**
 * Reports whether a text is the password. A wrong text takes as long as the right one, also when no password is set.
 * @param cost of a password that is not set
 */
export async function isPassword(text: string, password: Password | null, cost: ScryptCost): Promise<boolean> {
  const derived = await derive(text, Buffer.from(password?.salt ?? '', 'hex'), password?.cost ?? cost);
  return password !== null && timingSafeEqual(derived, Buffer.from(password.hash, 'hex'));
}

/** Runs in a thread of libuv. Keyboards compose the same character differently, so the text is normalized. */
function derive(text: string, salt: Uint8Array, { N, r, p }: ScryptCost): Promise<Buffer> {
  const options = { N, r, p, maxmem: 256 * N * r + 2 ** 20 };
  return new Promise((resolve, reject) => {
    scrypt(text.normalize('NFKC'), salt, HASH_BYTES, options, (error, derived) => (error ? reject(error) : resolve(derived)));
  });
}

/** Checks passwords one at a time, because each takes memory and a thread that commits need. */
export class PasswordAttempts {
  readonly throttle = new SignInThrottle();
  #last: Promise<unknown> = Promise.resolve();

  /** @param cost of a password that is not set */
  constructor(readonly cost: ScryptCost) {}

  /** Resolves with the password if the text is it, with null if it is not, or with the milliseconds to wait before the next attempt. */
  async check(values: Values, text: string, address: string, at: Millis): Promise<Password | null | Millis> {
    const wait = this.throttle.attempt(address, at);
    if (wait > 0) return wait;
    const password = await values.get('password');
    const turn = this.#last.then(() => isPassword(text, password, this.cost));
    this.#last = turn.catch(() => {});
    if (!(await turn)) return null;
    this.throttle.succeed(address);
    return password;
  }
}

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
    const wait = Math.max(
      waitOf(own, WRONG_SIGN_INS_PER_ADDRESS, SIGN_IN_WAIT_MILLISECONDS, at),
      waitOf(this.#all, WRONG_SIGN_INS_OF_ALL, SIGN_IN_WAIT_OF_ALL_MILLISECONDS, at),
    );
    if (wait > 0) return wait;
    this.#failures.delete(address);
    this.#failures.set(address, { count: own.count + 1, at });
    if (this.#failures.size > SIGN_IN_ADDRESSES) this.#failures.delete(this.#failures.keys().next().value!);
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
  return failures && at - failures.at < WRONG_SIGN_IN_MILLISECONDS ? failures : { count: 0, at };
}

function waitOf({ count, at }: Failures, free: number, longest: Millis, now: Millis): Millis {
  if (count < free) return 0;
  const wait = Math.min(1000 * 2 ** (count - free), longest);
  // The clock may have been set back.
  return Math.max(0, Math.min(wait, at + wait - now));
}
