import type { Soon } from '../soon.js';
import type { Millis } from './store.js';

/** Projects and their tokens. A store knows tokens only by their hashes. */
export interface Access {
  /** All projects, oldest first. */
  projects(): Soon<Project[]>;
  project(name: string): Soon<Project | null>;
  projectById(id: number): Soon<Project | null>;
  /** Creates a project with its first token. Null: the name is taken, and nothing was created. */
  createProject(name: string, tokenHash: string, at: Millis): Promise<Project | null>;
  /** Sets the default branch of a project; null: recorded builds decide again. */
  setDefaultBranch(project: number, branch: string | null): Promise<void>;
  /** All tokens of all projects, oldest first, revoked ones included. */
  tokens(): Soon<Token[]>;
  /** The token with a hash. A store may find it by a part of the hash, so the caller compares the whole. */
  token(hash: string): Soon<Token | null>;
  createToken(project: number, hash: string, at: Millis): Promise<void>;
  /** Revokes a token unless it is revoked already. */
  revokeToken(hash: string, at: Millis): Promise<void>;
}

export interface Project {
  id: number;
  name: string;
  created_at: Millis;
  /** Derived from recorded builds (see default-branch.ts), unless it is set; null before the first build. */
  default_branch: string | null;
  is_default_branch_set: boolean;
}

export interface Token {
  project: number;
  /** SHA-256 of the token, in hex. */
  hash: string;
  created_at: Millis;
  /** Null: it is in force. */
  revoked_at: Millis | null;
}
