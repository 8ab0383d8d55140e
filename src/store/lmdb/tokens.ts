import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import { commit } from './commit.js';
import type { Parts } from './open.js';
import type { Millis, TokenRecord } from './records.js';

/** A token as it may be shown: by its id, from which the token cannot be found. */
export interface TokenInfo extends TokenRecord {
  id: string;
}

const ID_CHARACTERS = 32;
const SHOWN_CHARACTERS = 12;

function hashOf(token: string): string {
  return hash('sha256', token, 'hex');
}

/** Makes a token for the project (or stores the hash of the one given) and returns it: the only time it is seen. */
export async function createToken(store: Parts, project: number, now: Millis, token = newToken()): Promise<string> {
  await commit(store, () => putToken(store, project, now, token));
  return token;
}

/** The id of a token, by which it is listed and revoked. */
export function idOfToken(token: string): string {
  return hashOf(token).slice(0, SHOWN_CHARACTERS);
}

/** Within a write transaction. */
export function putToken(store: Parts, project: number, now: Millis, token: string): void {
  const digest = hashOf(token);
  void store.tokens.put(digest.slice(0, ID_CHARACTERS), { v: 1, project, hash: digest, created_at: now, revoked_at: null });
}

export function newToken(): string {
  return randomBytes(32).toString('hex');
}

/** The record of a token, in force or revoked. Found by hash: the time it takes tells nothing about tokens. */
export function findToken(store: Parts, token: string): TokenRecord | null {
  const digest = hashOf(token);
  const record = store.tokens.get(digest.slice(0, ID_CHARACTERS));
  return record && timingSafeEqual(Buffer.from(record.hash), Buffer.from(digest)) ? record : null;
}

/** The project of a token in force, else null. */
export function projectOfToken(store: Parts, token: string): number | null {
  const record = findToken(store, token);
  return record?.revoked_at === null ? record.project : null;
}

/** All tokens of all projects, oldest first. */
export function listTokens(store: Parts): TokenInfo[] {
  return [...store.tokens.getRange()]
    .map(({ key, value }) => ({ ...value, id: key.slice(0, SHOWN_CHARACTERS) }))
    .sort((a, b) => a.created_at - b.created_at);
}

/** Revokes by the token itself or by its id. Throws when there is no such token in force. */
export async function revokeToken(store: Parts, tokenOrId: string, now: Millis): Promise<TokenInfo> {
  const digest = hashOf(tokenOrId);
  const revoked = await commit(store, () => {
    for (const { key, value } of store.tokens.getRange()) {
      const id = key.slice(0, SHOWN_CHARACTERS);
      if (value.revoked_at !== null || (value.hash !== digest && id !== tokenOrId)) continue;
      const record = { ...value, revoked_at: now };
      void store.tokens.put(key, record);
      return { ...record, id };
    }
    return null;
  });
  if (!revoked) throw new Error('cannot revoke: no token in force has this value or id; "token list" shows the ids');
  return revoked;
}
