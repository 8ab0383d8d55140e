import { createPrivateKey, createPublicKey, generateKeyPairSync } from 'node:crypto';
import type { ReceiptKeys, Values } from '../ports/values.js';

/** Returns the private key that signs receipts. @param given the one that the operator gave, in PEM; null: the store has it */
export async function signingKey(values: Values, given: string | null): Promise<string> {
  return given ?? (await keysOfStore(values)).private;
}

/** Returns the public keys in PEM: first the one that signs now, then those of the store, then those that were given before. */
export async function publicReceiptKeys(values: Values, given: string | null): Promise<string[]> {
  const signing = given === null ? [] : [publicPem(given)];
  const kept = given === null ? await keysOfStore(values) : await values.get('receipt_keys');
  const ofStore = kept ? [publicPem(kept.private), ...kept.retired] : [];
  return [...new Set([...signing, ...ofStore, ...((await values.get('given_receipt_keys')) ?? [])])];
}

/** Notes a key that the operator gave, so that it stays listed when another one signs. */
export async function noteGivenKey(values: Values, given: string): Promise<void> {
  const key = publicPem(given);
  const noted = (await values.get('given_receipt_keys')) ?? [];
  if (!noted.includes(key)) await values.put('given_receipt_keys', [key, ...noted]);
}

/** Makes another key of the store. The one before is listed, so that its receipts can be checked. */
export async function rotateReceiptKey(values: Values): Promise<void> {
  const { private: before, retired } = await keysOfStore(values);
  await values.put('receipt_keys', newKeys([publicPem(before), ...retired]));
}

/** They are made when they are first needed. */
async function keysOfStore(values: Values): Promise<ReceiptKeys> {
  return (await values.get('receipt_keys')) ?? values.add('receipt_keys', newKeys([]));
}

function publicPem(privatePem: string): string {
  return createPublicKey(createPrivateKey(privatePem)).export({ type: 'spki', format: 'pem' }).toString();
}

function newKeys(retired: string[]): ReceiptKeys {
  const { privateKey } = generateKeyPairSync('ed25519', {
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  });
  return { private: privateKey, retired };
}
