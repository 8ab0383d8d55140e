import { hash } from 'node:crypto';
import { limits } from '../limits.js';

/**
 * Keeps what a function returns, by text, because all requests of a build need the same few digests. When the texts have too many
 * characters, all are forgotten.
 */
function keeping<T extends string | number>(make: (text: string) => T): (text: string) => T {
  const known = new Map<string, T>();
  let characters = 0;
  return text => {
    const kept = known.get(text);
    if (kept !== undefined) return kept;
    const made = make(text);
    characters += text.length;
    if (characters > limits.knownDigestCharacters) {
      known.clear();
      characters = text.length;
    }
    known.set(text, made);
    return made;
  };
}

const digestOf = keeping(text => hash('sha256', text, 'base64url').slice(0, 22));

/**
 * Free text enters a key only as this digest, which bounds the length of the key.
 * 22 characters: the first 132 bits of SHA-256 over the parts as a JSON array (so ['a','b'] is not ['ab']).
 */
export function digest(...parts: readonly (string | number | null)[]): string {
  return digestOf(JSON.stringify(parts));
}

/** A number from 1 to 2^48 - 1 for a text. It saves space where a collision does no harm. */
export const shortDigest = keeping(text => Number.parseInt(hash('sha256', text, 'hex').slice(0, 12), 16) || 1);
