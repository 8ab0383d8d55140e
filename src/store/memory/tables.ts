import type { Project, Token } from '../../engine/ports/access.js';
import type { Build, Run } from '../../engine/ports/builds.js';
import type { CiRun } from '../../engine/ports/ci-runs.js';
import type { Link, Password, Session } from '../../engine/ports/sign-ins.js';
import type { Millis } from '../../engine/ports/store.js';
import type { DaySummary, Summary } from '../../engine/ports/summaries.js';
import type { KnownPath } from '../../engine/ports/timings.js';
import type { KeptQueue } from './queues.js';
import type { KeptSplit } from './splits.js';

/**
 * All data of the store. The maps keep the order of insertion, oldest first. Records are replaced, not changed, so that a caller keeps
 * the state that it read.
 */
export class Tables {
  readonly projects = new Map<number, Project>();
  /** When each was deleted. */
  readonly deletedProjects = new Map<number, Millis>();
  /** By hash. */
  readonly tokens = new Map<string, Token>();
  /** By hash. */
  readonly links = new Map<string, Link>();
  readonly sessions = new Map<string, Session>();
  password: Password | null = null;
  address: string | null = null;
  /** By buildDigest. */
  readonly builds = new Map<string, Build>();
  /** By number of the build, in the order of recording. */
  readonly runs = new Map<number, readonly Run[]>();
  /** How many runs of a build were ever recorded, by buildDigest. */
  readonly recorded = new Map<string, number>();
  /** By number of the build. */
  readonly summaries = new Map<number, Summary>();
  /** See dayKey. */
  readonly days = new Map<string, DaySummary>();
  /** See pathKey. */
  readonly paths = new Map<string, KnownPath>();
  /** By digest of the key. */
  readonly splits = new Map<string, KeptSplit>();
  /** By digest of the key. */
  readonly queues = new Map<string, KeptQueue>();
  /** By id. */
  readonly ciRuns = new Map<string, CiRun>();
  projectsCreated = 0;
  buildsCreated = 0;
  pathsCreated = 0;
  /** How many runs were measured, and how often paths were deleted. */
  keptTime: Millis | null = null;
  backedUpAt: Millis | null = null;
}
