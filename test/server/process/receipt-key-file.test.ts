import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { readReceiptKey } from '../../../src/server/process/receipt-key-file.js';
import { startServer } from '../../harness/server.js';
import { temporaryFolder } from '../../harness/temporary-folder.js';

const { privateKey, publicKey } = generateKeyPairSync('ed25519');
const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
const pem = (key: KeyObject, more: object = {}) =>
  key.export({ type: 'pkcs8', format: 'pem', ...more } as { type: 'pkcs8'; format: 'pem' });

it('the key that signs receipts is read from a file, whatever is before and after it', () => {
  const file = join(temporaryFolder(), 'key.pem');
  writeFileSync(file, `Bag Attributes\n${pem(privateKey)}\n`);
  expect(readReceiptKey(file)).toContain(pem(privateKey));
});

it.each<[what: string, text: string | Buffer | null, found: RegExp]>([
  ['is missing', null, /ENOENT: no such file/],
  ['is empty', '', /it is no PEM file/],
  ['is binary', privateKey.export({ type: 'pkcs8', format: 'der' }), /it is no PEM file/],
  ['has a public key', publicKey.export({ type: 'spki', format: 'pem' }), /it begins with -----BEGIN PUBLIC KEY-----/],
  [
    'has a key with a passphrase',
    pem(privateKey, { cipher: 'aes-256-cbc', passphrase: 'secret' }),
    /it begins with -----BEGIN ENCRYPTED PRIVATE KEY-----/,
  ],
  ['has a key of another type', pem(ec), /its private key is of the type ec/],
  ['is cut off', pem(privateKey).slice(0, 60), /its private key is damaged/],
])('a file for this key that %s is refused at the start, with what is expected', async (_, text, found) => {
  const file = join(temporaryFolder(), 'key.pem');
  if (text !== null) writeFileSync(file, text);
  const error = (await startServer({ receiptKeyFile: file }).catch((error: unknown) => error)) as Error;
  expect(error.message).toMatch(found);
  expect(error.message.startsWith(`cannot sign receipts with the key in ${file}: `)).toBe(true);
  expect(error.message).toContain(
    '; set BALLAST_RECEIPT_KEY_FILE to a PEM file that begins with -----BEGIN PRIVATE KEY-----, with a key of Ed25519',
  );
  if (text) expect(error.message).not.toContain(text.toString().split('\n')[1] ?? text);
});

it('a folder in its place is refused', () => {
  expect(() => readReceiptKey(temporaryFolder())).toThrow(/: EISDIR/);
});
