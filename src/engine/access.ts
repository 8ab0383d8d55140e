import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import { limits } from '../limits.js';
import type { Access, Project, Token } from './ports/access.js';
import type { Millis } from './ports/store.js';
import { Refusal } from './refusal.js';
import { type Soon, whenKnown } from './soon.js';

const NAME = /^[\p{L}\p{N}][\p{L}\p{N} ._/-]{0,199}$/u;
const ID_CHARACTERS = 12;

/** Creates a project with its first token. Throws a Refusal when the name is invalid or taken. */
export async function createProject(access: Access, name: string, at: Millis, token = newToken()): Promise<Project & { token: string }> {
  if (!NAME.test(name)) {
    throw new Refusal(
      `cannot create the project "${name}": a name has 1 to 200 letters, digits, spaces and . _ / -, and starts with a letter or digit`,
    );
  }
  const project = await access.createProject(name, hashOf(token), at);
  if (!project) throw new Refusal(`cannot create the project "${name}": it exists already; "token create" makes another token for it`);
  return { ...project, token };
}

/** Creates a token for a project and returns it. The store keeps only its hash, so the token cannot be shown again. */
export async function createToken(access: Access, project: number, at: Millis, token = newToken()): Promise<string> {
  await access.createToken(project, hashOf(token), at);
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

function confirm(token: string, hash: string, found: Token | null): Token | null {
  if (!found) return null;
  if (foundHashes.has(token)) return found.hash === hash ? found : null;
  if (!timingSafeEqual(Buffer.from(found.hash), Buffer.from(hash))) return null;
  if (foundHashes.size >= limits.foundTokens) foundHashes.clear();
  foundHashes.set(token, hash);
  return found;
}

/** The project of a token in force; null: the token is unknown or revoked. */
export async function projectOfToken(access: Access, token: string): Promise<number | null> {
  const found = await findToken(access, token);
  return found?.revoked_at === null ? found.project : null;
}

/** Revokes a token, named by itself or by its id. Returns the id. Throws a Refusal when no token in force has that name. */
export async function revokeToken(access: Access, tokenOrId: string, at: Millis): Promise<string> {
  const digest = hashOf(tokenOrId);
  const tokens = await access.tokens();
  const found = tokens.find(token => token.revoked_at === null && (token.hash === digest || tokenId(token) === tokenOrId));
  if (!found) throw new Refusal('cannot revoke: no token in force has this value or id; "token list" shows the ids');
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
