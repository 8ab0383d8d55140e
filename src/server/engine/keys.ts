import { hash } from 'node:crypto';

/** Characters of the texts whose digests are cached. */
const DIGESTED_CHARACTERS = 2_000_000;

/** Digests by their texts, because all requests of a build need the same few. A cache that orders its entries takes as long as a hash. */
const digests = new Map<string, string>();
let digestedCharacters = 0;

/**
 * Free text enters a key only as this digest, which bounds the length of the key.
 * 22 characters: the first 132 bits of SHA-256 over the parts as a JSON array (so ['a','b'] is not ['ab']).
 */
export function digest(...parts: readonly (string | number | null)[]): string {
  const text = JSON.stringify(parts);
  const cached = digests.get(text);
  if (cached !== undefined) return cached;
  digestedCharacters += text.length;
  if (digestedCharacters > DIGESTED_CHARACTERS) {
    digests.clear();
    digestedCharacters = text.length;
  }
  const made = hash('sha256', text, 'base64url').slice(0, 22);
  digests.set(text, made);
  return made;
}

/** A number from 1 to 2^48 - 1 for a text. It saves space where a collision does no harm. */
export function shortDigest(text: string): number {
  return Buffer.from(digest(text), 'base64url').readUIntBE(0, 6) || 1;
}

/** The build key: it identifies a build within a project, whether runs of it are recorded or not. */
export interface BuildKey {
  commit_hash: string;
  branch: string;
  node_total: number;
}

/** A build of a project. */
export interface ProjectBuild extends BuildKey {
  project: number;
}

/** A node of a build. */
export interface NodeKey extends BuildKey {
  node_index: number;
}

/** A filter for lists of builds. A missing field matches every build. */
export type BuildFilter = Partial<BuildKey>;

/** Reports whether a filter finds a build. */
export function matches(
  key: BuildKey,
  { branch = key.branch, commit_hash = key.commit_hash, node_total = key.node_total }: BuildFilter,
): boolean {
  return key.branch === branch && key.commit_hash === commit_hash && key.node_total === node_total;
}

/** The part of a request that names a split. */
export interface SplitKey {
  project: number;
  build: BuildKey;
  /** The id of the CI run. */
  ci_run: string;
  /** The split is the same for all CI runs of the build. */
  isFixed: boolean;
  /** A digest of the other fields. */
  digest: string;
}

export function splitKey(project: number, { commit_hash, branch, node_total }: BuildKey, ci_run: string, isFixed: boolean): SplitKey {
  return {
    project,
    build: { commit_hash, branch, node_total },
    ci_run,
    isFixed,
    digest: digest(project, commit_hash, branch, node_total, isFixed ? null : ci_run),
  };
}

/** The id of a CI run whose clients send none. */
export const UNNAMED_CI_RUN = 'unknown';

/** The key of the split that all CI runs of a build share. */
export function fixedSplitKey(project: number, build: BuildKey): SplitKey {
  return splitKey(project, build, UNNAMED_CI_RUN, true);
}

/** The part of a request that names a queue. */
export interface QueueKey {
  project: number;
  build: BuildKey;
  /** The id of the CI run: node_build_id or test_queue_id. */
  ci_run: string;
  /** A digest of the other fields. It names the queue in answers, and the runs of a node in batches. */
  digest: string;
}

export function queueKey(project: number, { commit_hash, branch, node_total }: BuildKey, ci_run: string): QueueKey {
  return { project, build: { commit_hash, branch, node_total }, ci_run, digest: digest(project, commit_hash, branch, node_total, ci_run) };
}

/** The digest by which stores find a CI run that another one has proved. */
export function sparedKey({ commit_hash, branch, ci_run }: Omit<BuildKey, 'node_total'> & { ci_run: string }): string {
  return digest(commit_hash, branch, ci_run);
}

/** The digest of a build key in its project, by which stores find the build. */
export function buildDigest(project: number, { commit_hash, branch, node_total }: BuildKey): string {
  return digest(project, commit_hash, branch, node_total);
}
