import type { Soon } from '../../../base/soon.js';
import type { Password } from './sign-ins.js';
import type { Millis } from './store.js';

/** Values of which a store keeps one each, under a name. */
export interface Values {
  /** Null: it is not set. */
  get<Name extends keyof KeptValues>(name: Name): Soon<KeptValues[Name] | null>;
  /** Keeps a value if none is kept. Returns the one that is. */
  add<Name extends keyof KeptValues>(name: Name, value: KeptValues[Name]): Promise<KeptValues[Name]>;
  /** Keeps a value in place of the one before; null removes it. */
  put<Name extends keyof KeptValues>(name: Name, value: KeptValues[Name] | null): Promise<void>;
}

/** The keys of Ed25519 of the store that sign receipts, in PEM. */
export interface ReceiptKeys {
  /** The private key that signs now. */
  private: string;
  /** Public keys that signed before, newest first. */
  retired: string[];
}

export interface KeptValues {
  /** The password of operators. The sessions that came from it end when another one takes its place, or none. */
  password: Password;
  /** The address that the server's dashboard had at its last start. */
  address: string;
  /** The version of the program that served the store last. An older one that cannot read the store names it. */
  program: string;
  /** The time that the clock of the sweeps has reached. */
  clock: Millis;
  /** When the last backup was made. */
  backup: Millis;
  receipt_keys: ReceiptKeys;
  /** The public keys of Ed25519 in PEM whose private keys operators gave to sign receipts, newest first. */
  given_receipt_keys: string[];
}
