import type { SettingName, ShownSettings } from '../project-settings.js';
import type { Count, Timestamp } from '../scalars.js';

/**
 * The requests that only the dashboard sends, all below /dashboard/. They need its session cookie. A request that changes something is a
 * POST with a JSON body and the header `Ballast-Dashboard: 1`, from the same origin.
 */

/** Operators see and change everything. A reader sees one project. */
export type Role = 'operator' | 'reader';

/** POST /dashboard/sign_in: with the token of a link or the password. */
export interface SignInMessage {
  link?: string;
  password?: string;
}

/** GET /dashboard/session; 401 without a session. */
export interface SessionAnswer {
  /** `operator`: sees and changes everything. `reader`: sees the projects below. */
  role: Role;
  /** When this session ends. */
  expires_at: Timestamp;
  projects: ProjectLine[];
  has_password: boolean;
  version: string;
  /** The address of this server for clients: the public URL, or that of the request. */
  url: string;
  token_header: string;
}

export interface ProjectLine {
  id: Count;
  name: string;
  /** The name of the project whose public side it is: anyone may have written what it shows. Null: it is none. */
  public_side_of: string | null;
  default_branch: string | null;
  settings: ShownSettings;
}

/** GET /dashboard/projects/settings?project=1, for operators, and the answer to POST /dashboard/projects/settings {project, settings}. */
export interface SettingsAnswer {
  settings: SettingLine[];
}

export interface SettingLine {
  name: SettingName;
  help: string;
  /** Empty: it is not set. Of a secret, not its value. */
  text: string;
  is_secret: boolean;
}

/** The answer to POST /dashboard/projects/webhook_test {project}: what the webhook did instead of taking the test, as "answered with 500"; null: it took it. */
export interface WebhookTest {
  problem: string | null;
}

/** GET /dashboard/access, for operators. */
export interface AccessAnswer {
  /** `is_public`: it is the public side of a project, and its tokens are public. */
  projects: { id: Count; name: string; is_public: boolean; created_at: Timestamp; tokens: TokenLine[] }[];
  sessions: SessionLine[];
  links: LinkLine[];
}

export interface TokenLine {
  id: string;
  name: string | null;
  created_at: Timestamp;
  /** To the hour; null: it was never used. */
  used_at: Timestamp | null;
  revoked_at: Timestamp | null;
}

export interface SessionLine {
  id: string;
  role: Role;
  /** Null: all. */
  project: Count | null;
  created_at: Timestamp;
  used_at: Timestamp;
  expires_at: Timestamp;
  /** The session of this request. */
  is_own: boolean;
}

/** A link that was made and has not been used up. */
export interface LinkLine {
  id: string;
  /** Null: it signs an operator in, once. Otherwise it shows one project, read-only, until it expires. */
  project: Count | null;
  created_at: Timestamp;
  expires_at: Timestamp;
}

/**
 * POST /dashboard/projects {name}, /dashboard/projects/rename {project, name}, /dashboard/projects/delete {project, name} with the name that
 * the project has, /dashboard/tokens {project, name?, is_public?}, /dashboard/tokens/revoke {id}, /dashboard/links {project, days},
 * /dashboard/links/revoke {id}, /dashboard/sessions/end {id}, /dashboard/sign_out {}.
 */
export interface CreatedProject {
  id: Count;
  name: string;
  /** Shown only now. */
  token: string;
}

export interface CreatedToken {
  id: string;
  /** Shown only now. */
  token: string;
}

export interface CreatedLink {
  id: string;
  /** Shown only now. */
  url: string;
  expires_at: Timestamp;
}

/** GET /dashboard/server, for operators. */
export interface ServerAnswer {
  /** The processes that serve the store, the one that answers first. */
  processes: ServerProcess[];
  /** `disk_free_bytes`: null if the store is on another machine. */
  store: { bytes: Count; disk_free_bytes: Count | null; records: Record<string, Count> };
  sweep: { last_at: Timestamp | null; deleted: Record<string, Count>; retention_days: Count };
  /** Null: none was made with the command `backup`. */
  backup: { last_at: Timestamp } | null;
  /** Names and versions that clients sent since the start, the last seen first; bounded. */
  clients: ClientLine[];
  /** Requests since the start that could not be used, by reason, the last seen first; bounded. */
  refused: RefusedLine[];
}

export interface ClientLine {
  name: string;
  version: string;
  requests: Count;
  last_at: Timestamp;
}

/** One process that serves the store. Other versions read it, so fields are only added, and are optional then. */
export interface ServerProcess {
  /** Its machine and address. */
  name: string;
  version: string;
  node: string;
  http_server: string;
  started_at: Timestamp;
  /** Null: it is the one that answers. */
  seen_at: Timestamp | null;
  health: { name: string; is_ok: boolean; text: string }[];
  memory: { resident_bytes: Count; heap_bytes: Count };
  connections: Count;
  requests_in_flight: Count;
  jobs: { waiting: Count; running: Count; threads: Count };
  queues: { in_memory: Count; open: Count; bytes: Count };
}

export interface RefusedLine {
  status: Count;
  /** Method and path. */
  path: string;
  reason: string;
  count: Count;
  last_at: Timestamp;
  /** The name; null: the request had no known token in its head. */
  project: string | null;
  /** Name and version; empty: the client sent none. */
  client: string;
}
