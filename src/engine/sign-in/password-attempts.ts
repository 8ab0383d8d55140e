import type { Password, ScryptCost, SignIns } from '../ports/sign-ins.js';
import type { Millis } from '../ports/store.js';
import { isPassword } from './password.js';
import { SignInThrottle } from './throttle.js';

/** Checks passwords one at a time, because each takes memory and a thread that commits need. */
export class PasswordAttempts {
  readonly throttle = new SignInThrottle();
  #last: Promise<unknown> = Promise.resolve();

  /** @param cost of a password that is not set */
  constructor(readonly cost: ScryptCost) {}

  /** Resolves with the password if the text is it, with null if it is not, or with the milliseconds to wait before the next attempt. */
  async check(signIns: SignIns, text: string, address: string, at: Millis): Promise<Password | null | Millis> {
    const wait = this.throttle.attempt(address, at);
    if (wait > 0) return wait;
    const password = await signIns.password();
    const turn = this.#last.then(() => isPassword(text, password, this.cost));
    this.#last = turn.catch(() => {});
    if (!(await turn)) return null;
    this.throttle.succeed(address);
    return password;
  }
}
