import { createPrivateKey, createPublicKey, generateKeyPairSync } from 'node:crypto';
import type { ReceiptKeys, Values } from '../ports/values.js';

/** The keys that sign receipts. They are made when they are first needed. */
export async function receiptKeys(values: Values): Promise<ReceiptKeys> {
  return (await values.get('receipt_keys')) ?? values.add('receipt_keys', newKeys([]));
}

/** Makes another key. The one before is listed, so that its receipts can be checked. */
export async function rotateReceiptKey(values: Values): Promise<ReceiptKeys> {
  const keys = newKeys(publicKeysOf(await receiptKeys(values)));
  await values.put('receipt_keys', keys);
  return keys;
}

/** The public keys in PEM: first the one that signs now, then those before, newest first. */
export function publicKeysOf({ private: pem, retired }: ReceiptKeys): string[] {
  return [publicPem(pem), ...retired];
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
