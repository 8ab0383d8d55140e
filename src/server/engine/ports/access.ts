import type { Soon } from '../../../base/soon.js';
import type { ProjectSettings } from '../../../protocol/project-settings.js';
import type { Millis } from './store.js';

/** Projects and their tokens. A store knows tokens only by their hashes. */
export interface Access {
  /** All projects, oldest first; the public sides of projects follow the others. */
  projects(): Soon<Project[]>;
  /** The project with a name, or with an id. */
  project(nameOrId: string | number): Soon<Project | null>;
  /** Creates a project with its first token. Null: the name is taken, and nothing was created. */
  createProject(name: string, tokenHash: string, at: Millis): Promise<Project | null>;
  /** Gives a project, and its public side, another name. False: the name is taken, and nothing was changed. */
  renameProject(project: number, name: string): Promise<boolean>;
  /**
   * Deletes a project with its public side. From then on it is not found, its name is free, and its tokens, links and sessions are gone. The
   * sweeps of Maintenance delete what it recorded.
   */
  deleteProject(project: number, at: Millis): Promise<void>;
  /** Sets the default branch of a project; null: recorded builds decide again. */
  setDefaultBranch(project: number, branch: string | null): Promise<void>;
  /** Replaces the settings of a project. False: the project has other ones than `from` meanwhile, or is unknown, and nothing was changed. */
  replaceSettings(project: number, from: ProjectSettings, to: ProjectSettings): Promise<boolean>;
  /** All tokens of all projects, oldest first, revoked ones included. */
  tokens(): Soon<Token[]>;
  /** The token with a hash. A store may find it by a part of the hash, so the caller compares the whole. */
  token(hash: string): Soon<Token | null>;
  /** The same if the store knows it without asking another machine; null: it does not, or there is none. */
  knownToken(hash: string): Token | null;
  /** False: the project was deleted, and no token was created. */
  createToken(project: number, token: NewToken, at: Millis): Promise<boolean>;
  /**
   * Creates a token of the public side of a project. The first one creates that side. False: the project was deleted, and nothing was created.
   */
  createPublicToken(project: number, token: NewToken, at: Millis): Promise<boolean>;
  /** Notes that a token is in use. */
  useToken(hash: string, at: Millis): Promise<void>;
  /** Revokes a token unless it is revoked already. */
  revokeToken(hash: string, at: Millis): Promise<void>;
}

export interface Project {
  id: number;
  name: string;
  created_at: Millis;
  /** Derived from recorded builds (see recordings.ts), unless it is set; null before the first build. */
  default_branch: string | null;
  is_default_branch_set: boolean;
  settings: ProjectSettings;
}

export interface NewToken {
  /** SHA-256 of the token, in hex. */
  hash: string;
  /** Null: it has none. */
  name: string | null;
}

export interface Token extends NewToken {
  project: number;
  created_at: Millis;
  /** When it was last used, to the hour; null: it never was. */
  used_at: Millis | null;
  /** Null: it is in force. */
  revoked_at: Millis | null;
}
