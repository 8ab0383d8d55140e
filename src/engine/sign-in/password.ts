import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto';
import { limits } from '../../limits.js';
import type { Password, ScryptCost } from '../ports/sign-ins.js';
import type { Millis } from '../ports/store.js';
import { Refusal } from '../refusal.js';

/** 32 MiB and about 0.2 s of one thread: one of the parameter sets that OWASP recommends. */
export const PASSWORD_COST: ScryptCost = { N: 2 ** 15, r: 8, p: 3 };
const HASH_BYTES = 32;

/** Derives what is stored of a password. Throws a Refusal when it is too short or too long. */
export async function hashPassword(text: string, at: Millis, cost = PASSWORD_COST): Promise<Password> {
  const { length } = text;
  const { passwordMinCharacters: min, passwordMaxCharacters: max } = limits;
  if (length < min || length > max)
    throw new Refusal(`cannot set the password: it has ${length} characters; it must have ${min} to ${max}`);
  const salt = randomBytes(16);
  return { salt: salt.toString('hex'), hash: (await derive(text, salt, cost)).toString('hex'), cost, created_at: at };
}

/**
 * Whether a text is the password. It takes as long for a wrong one, and when none is set.
 * @param cost of a password that is not set
 */
export async function isPassword(text: string, password: Password | null, cost: ScryptCost): Promise<boolean> {
  const derived = await derive(text, Buffer.from(password?.salt ?? '', 'hex'), password?.cost ?? cost);
  return password !== null && timingSafeEqual(derived, Buffer.from(password.hash, 'hex'));
}

/** Runs in a thread of libuv. Keyboards compose the same character differently, so the text is normalized. */
function derive(text: string, salt: Uint8Array, { N, r, p }: ScryptCost): Promise<Buffer> {
  const options = { N, r, p, maxmem: 256 * N * r + 2 ** 20 };
  return new Promise((resolve, reject) => {
    scrypt(text.normalize('NFKC'), salt, HASH_BYTES, options, (error, derived) => (error ? reject(error) : resolve(derived)));
  });
}
