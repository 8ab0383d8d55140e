import { type Soon, whenKnown } from '../../../base/soon.js';
import { projectOfToken } from '../../engine/access.js';
import type { Access } from '../../engine/ports/access.js';
import type { Millis } from '../../engine/ports/store.js';
import { apiErrors } from '../errors.js';
import type { RawParameters } from '../read/validation.js';

/**
 * The project of a token in force. Throws the 403.
 * @param header the header that the 403 names when no token was sent
 * @param at when the token is used; missing: the use is not noted
 */
export function authenticate(access: Access, token: string | null, header: string, at?: Millis): Soon<number> {
  if (token === null) throw apiErrors.tokenMissing(header);
  return whenKnown(projectOfToken(access, token, at), project => {
    if (project === null) throw apiErrors.tokenInvalid();
    return project;
  });
}

/** Returns the token that older JavaScript clients send in the body. */
export function tokenInBody(raw: RawParameters): string | null {
  const token = Object.hasOwn(raw, 'test_suite_token') ? raw.test_suite_token : null;
  return typeof token === 'string' && token !== '' ? token : null;
}

/** Clients write the token this close to the beginning or end of a body. */
const TOKEN_BYTES = 4096;

/** Finds the likely token of a large body in its beginning and end, without parsing it. */
export function guessToken(body: readonly Uint8Array[]): string | null {
  const texts = [body[0]!.subarray(0, TOKEN_BYTES), body.at(-1)!.subarray(-TOKEN_BYTES)].map(part => Buffer.from(part).toString('latin1'));
  for (const text of texts) {
    const token = /"test_suite_token"\s*:\s*"([^"\\]+)"/.exec(text)?.[1];
    if (token !== undefined) return token;
  }
  return null;
}
