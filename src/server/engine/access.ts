import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import { type Soon, whenKnown } from '../../base/soon.js';
import { limits } from '../../protocol/limits.js';
import { noSettings, type ProjectSettings } from '../../protocol/project-settings.js';
import type { Access, Project, Token } from './ports/access.js';
import type { Millis } from './ports/store.js';
import { isPublicSide } from './public-side/side.js';
import { Refusal } from './refusal.js';
import { LAST_USE_UPDATE_MILLISECONDS } from './retention.js';
import { changedSettings } from './setting-texts.js';

/** Valid tokens whose hashes are cached. */
export const FOUND_TOKENS = 1000;

const NAME = /^[\p{L}\p{N}][\p{L}\p{N} ._/-]{0,199}$/u;
const TOKEN_NAME = new RegExp(`^[^\\p{C}\\p{Zl}\\p{Zp}]{1,${limits.tokenNameMaxCharacters}}$`, 'u');
const ID_CHARACTERS = 12;

/** Creates a project with its first token. Throws a Refusal when the name is invalid or taken. */
export async function createProject(access: Access, name: string, at: Millis, token = newToken()): Promise<Project & { token: string }> {
  assertName(`create the project "${name}"`, name);
  const project = await access.createProject(name, hashOf(token), at);
  if (!project) throw new Refusal(`cannot create the project "${name}": a project of that name exists`);
  return { ...project, token };
}

/** Gives a project another name. Throws a Refusal when the name is invalid or taken. */
export async function renameProject(access: Access, { id, name }: Project, newName: string): Promise<void> {
  const attempt = `rename the project "${name}" to "${newName}"`;
  assertNoPublicSide(attempt, id);
  assertName(attempt, newName);
  if (!(await access.renameProject(id, newName))) throw new Refusal(`cannot ${attempt}: a project of that name exists`);
}

/** The settings of a project; none are set of one that was deleted meanwhile. */
export async function settingsOf(access: Pick<Access, 'project'>, project: number): Promise<ProjectSettings> {
  return (await access.project(project))?.settings ?? noSettings;
}

/** Changes settings of a project; an empty text unsets one. Throws a Refusal when a name or a value is invalid. */
export async function changeSettings(access: Access, project: number, changes: Readonly<Record<string, string>>): Promise<ProjectSettings> {
  assertNoPublicSide('change the settings of a public side', project);
  for (;;) {
    const found = await access.project(project);
    if (!found) throw new Refusal(`cannot change the settings of project ${project}: it does not exist`);
    const settings = changedSettings(found.settings, changes);
    if (await access.replaceSettings(project, found.settings, settings)) return settings;
  }
}

/** Sets the default branch of a project; null: its builds decide. Throws a Refusal for a public side. */
export async function setDefaultBranch(access: Access, { id, name }: Pick<Project, 'id' | 'name'>, branch: string | null): Promise<void> {
  assertNoPublicSide(`set the default branch of "${name}"`, id);
  await access.setDefaultBranch(id, branch);
}

/** Deletes a project with its public side. Throws a Refusal for the public side alone. */
export async function deleteProject(access: Access, { id, name }: Pick<Project, 'id' | 'name'>, at: Millis): Promise<void> {
  assertNoPublicSide(`delete "${name}"`, id);
  await access.deleteProject(id, at);
}

/** Throws a Refusal when something is asked for the public side of a project that is decided for the project. */
function assertNoPublicSide(attempt: string, project: number): void {
  if (isPublicSide(project))
    throw new Refusal(
      `cannot ${attempt}: it is the public side of a project; it takes its name from the project, has no settings, and is deleted with the project; to close it, revoke its tokens`,
    );
}

/** Throws a Refusal when a project cannot have a name. */
function assertName(attempt: string, name: string): void {
  if (NAME.test(name)) return;
  throw new Refusal(`cannot ${attempt}: a name has 1 to 200 letters, digits, spaces and . _ / -, and starts with a letter or digit`);
}

export interface TokenFacts {
  /** The token itself. */
  token?: string;
  /** Null: it has none. */
  name?: string | null;
  /** Anyone may know the token: it is one of the public side of the project. */
  isPublic?: boolean;
}

/**
 * Creates a token for a project and returns it. The store keeps only its hash, so the token cannot be shown again. Throws a Refusal when the
 * name is invalid or the project was deleted.
 */
export async function createToken(
  access: Access,
  project: number,
  at: Millis,
  { token = newToken(), name = null, isPublic = false }: TokenFacts = {},
): Promise<string> {
  if (name !== null && !TOKEN_NAME.test(name)) {
    throw new Refusal(`cannot create a token "${name}": its name has 1 to ${limits.tokenNameMaxCharacters} characters, all printable`);
  }
  const created = { hash: hashOf(token), name };
  const isCreated =
    isPublic && !isPublicSide(project) ? access.createPublicToken(project, created, at) : access.createToken(project, created, at);
  if (!(await isCreated)) throw new Refusal('cannot create a token: the project was deleted');
  return token;
}

/**
 * The hashes of tokens that were found, because a SHA-256 takes ten times as long as a look-up. The duration of a look-up reveals no token: a Map
 * compares texts only when their hashes are equal, and these have a random seed in each process.
 */
const foundHashes = new Map<string, string>();

/** The record of a token, in force or revoked. The look-up is by hash, so its duration reveals nothing about tokens. */
export function findToken(access: Access, token: string): Soon<Token | null> {
  const hash = foundHashes.get(token) ?? hashOf(token);
  return whenKnown(access.token(hash), found => confirm(token, hash, found));
}

/** The record of a token if the store knows it without asking; null: it does not, or there is none. */
export function knownToken(access: Access, token: string): Token | null {
  const hash = foundHashes.get(token) ?? hashOf(token);
  return confirm(token, hash, access.knownToken(hash));
}

function confirm(token: string, hash: string, found: Token | null): Token | null {
  if (!found) return null;
  if (foundHashes.has(token)) return found.hash === hash ? found : null;
  if (!timingSafeEqual(Buffer.from(found.hash), Buffer.from(hash))) return null;
  if (foundHashes.size >= FOUND_TOKENS) foundHashes.clear();
  foundHashes.set(token, hash);
  return found;
}

/** The tokens whose use is being noted, by hash. */
const noting = new Set<string>();

/**
 * The project of a token in force; null: the token is unknown or revoked.
 *
 * @param at when it is used, which is noted once an hour; missing: the use is not noted
 */
export function projectOfToken(access: Access, token: string, at?: Millis): Soon<number | null> {
  return whenKnown(findToken(access, token), found => {
    if (found?.revoked_at !== null) return null;
    if (at !== undefined) noteUse(access, found, at);
    return found.project;
  });
}

function noteUse(access: Access, { hash, used_at }: Token, at: Millis): void {
  if ((used_at !== null && at - used_at < LAST_USE_UPDATE_MILLISECONDS) || noting.has(hash)) return;
  noting.add(hash);
  // A store that refuses writes is reported elsewhere.
  const noted = access.useToken(hash, at).catch(() => {});
  void noted.then(() => noting.delete(hash));
}

/** Revokes a token, named by itself or by its id. Returns the id. Throws a Refusal when no token in force has that name. */
export async function revokeToken(access: Access, tokenOrId: string, at: Millis): Promise<string> {
  const digest = hashOf(tokenOrId);
  const tokens = await access.tokens();
  const found = tokens.find(token => token.revoked_at === null && (token.hash === digest || tokenId(token) === tokenOrId));
  if (!found) throw new Refusal('cannot revoke: no token in force has this value or id');
  await access.revokeToken(found.hash, at);
  return tokenId(found);
}

/** The id that names a token in lists. The token cannot be derived from it. */
export function tokenId({ hash }: Pick<Token, 'hash'>): string {
  return hash.slice(0, ID_CHARACTERS);
}

export function hashOf(token: string): string {
  return hash('sha256', token, 'hex');
}

/** A secret of 256 random bits. */
export function newToken(): string {
  return randomBytes(32).toString('hex');
}
