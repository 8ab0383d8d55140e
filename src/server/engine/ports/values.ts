import type { Soon } from '../../../base/soon.js';
import type { Password } from './sign-ins.js';
import type { Millis } from './store.js';

/** Values of which a store keeps one each, under a name. */
export interface Values {
  /** Null: it is not set. */
  get<Name extends keyof KeptValues>(name: Name): Soon<KeptValues[Name] | null>;
  /** Keeps a value in place of the one before; null removes it. */
  put<Name extends keyof KeptValues>(name: Name, value: KeptValues[Name] | null): Promise<void>;
}

export interface KeptValues {
  /** The password of operators. The sessions that came from it end when another one takes its place, or none. */
  password: Password;
  /** The address that the server's dashboard had at its last start. */
  address: string;
  /** The time that the clock of the sweeps has reached. */
  clock: Millis;
  /** When the last backup was made. */
  backup: Millis;
}
