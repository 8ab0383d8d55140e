import type { Soon } from '../../../base/soon.js';
import type { Millis } from './store.js';

/** The passwords, links and sessions of people at the dashboard. A store knows secrets only by their hashes. */
export interface SignIns {
  /** All links, oldest first. A link that has expired is listed until `deleteEnded`. */
  links(): Soon<Link[]>;
  /** The link with a hash. A store may find it by a part of the hash, so the caller compares the whole. The same holds for `session`. */
  link(hash: string): Soon<Link | null>;
  createLink(link: Link): Promise<void>;
  /** Deletes a link, and the sessions that came from it. */
  deleteLink(hash: string): Promise<void>;
  /** All sessions, oldest first. A session that has ended by its time is listed until `deleteEnded`. */
  sessions(): Soon<Session[]>;
  session(hash: string): Soon<Session | null>;
  /**
   * Creates a session if the link or password that it comes from is still there; false: it is not. A link of an operator is used up, so
   * that of concurrent calls with it one resolves with true. Of the sessions of the same project, or of operators, beyond `most` the one
   * ends that was not used for longest.
   */
  createSession(session: Session, most: number): Promise<boolean>;
  /** Notes that a session is in use. */
  useSession(hash: string, at: Millis): Promise<void>;
  deleteSession(hash: string): Promise<void>;
  /** Deletes links that expired before a time, and sessions that were not used since `unusedSince` or whose `ends_at` is before. */
  deleteEnded(at: Millis, unusedSince: Millis): Promise<void>;
}

export interface Link {
  /** SHA-256 of its secret, in hex. */
  hash: string;
  /** Null: it signs an operator in, once. Otherwise it signs in readers of this project until it expires. */
  project: number | null;
  created_at: Millis;
  expires_at: Millis;
}

export interface Session {
  /** SHA-256 of its secret, in hex. */
  hash: string;
  /** Null: an operator, who sees and changes everything. Otherwise a reader of this project. */
  project: number | null;
  /** The hash of the link or password that it comes from. */
  origin: string;
  created_at: Millis;
  /** Approximately when it was last used. */
  used_at: Millis;
  /** The session ends by this time, however often it is used. */
  ends_at: Millis;
}

/** A password as scrypt keeps it. */
export interface Password {
  /** In hex. */
  salt: string;
  hash: string;
  cost: ScryptCost;
  created_at: Millis;
}

/** The parameters N, r and p of scrypt (RFC 7914). */
export interface ScryptCost {
  N: number;
  r: number;
  p: number;
}
