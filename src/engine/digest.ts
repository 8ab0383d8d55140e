import { hash } from 'node:crypto';

/**
 * Free text enters a key only as this digest, which bounds the length of the key.
 * 22 characters: the first 132 bits of SHA-256 over the parts as a JSON array (so ['a','b'] is not ['ab']).
 */
export function digest(...parts: readonly (string | number | null)[]): string {
  return hash('sha256', JSON.stringify(parts), 'base64url').slice(0, 22);
}

/** A number from 1 to 2^48 - 1 for a text. It saves space where a collision does no harm. */
export function shortDigest(text: string): number {
  return Number.parseInt(hash('sha256', text, 'hex').slice(0, 12), 16) || 1;
}
