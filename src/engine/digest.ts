import { hash } from 'node:crypto';
import { limits } from '../limits.js';

/** Digests that were made lately, by text. All requests of a build need the same few, and a look-up takes a quarter of the time. */
const known = new Map<string, string>();
let knownCharacters = 0;

/**
 * Free text enters a key only as this digest, which bounds the length of the key.
 * 22 characters: the first 132 bits of SHA-256 over the parts as a JSON array (so ['a','b'] is not ['ab']).
 */
export function digest(...parts: readonly (string | number | null)[]): string {
  const text = JSON.stringify(parts);
  return known.get(text) ?? make(text);
}

function make(text: string): string {
  const digest = hash('sha256', text, 'base64url').slice(0, 22);
  knownCharacters += text.length;
  if (knownCharacters > limits.knownDigestCharacters) {
    known.clear();
    knownCharacters = text.length;
  }
  known.set(text, digest);
  return digest;
}

/** A number from 1 to 2^48 - 1 for a text. It saves space where a collision does no harm. */
export function shortDigest(text: string): number {
  return Number.parseInt(hash('sha256', text, 'hex').slice(0, 12), 16) || 1;
}
