import { createPrivateKey, type KeyObject } from 'node:crypto';
import { readFileSync } from 'node:fs';

/** Reads the file with the key that signs receipts. Throws an error that says what else the file has. Returns the key in PEM. */
export function readReceiptKey(file: string): string {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw unusable(file, (error as Error).message, error);
  }
  const label = /^-----BEGIN ([A-Z0-9 ]+)-----/m.exec(text)?.[1];
  if (label === undefined) throw unusable(file, 'it is no PEM file');
  if (label !== 'PRIVATE KEY') throw unusable(file, `it begins with -----BEGIN ${label}-----`);
  let key: KeyObject;
  try {
    key = createPrivateKey(text);
  } catch (error) {
    throw unusable(file, 'its private key is damaged', error);
  }
  if (key.asymmetricKeyType !== 'ed25519') throw unusable(file, `its private key is of the type ${key.asymmetricKeyType}`);
  return text;
}

function unusable(file: string, found: string, cause?: unknown): Error {
  return new Error(
    `cannot sign receipts with the key in ${file}: ${found}; set BALLAST_RECEIPT_KEY_FILE to a PEM file that begins with ` +
      '-----BEGIN PRIVATE KEY-----, with a key of Ed25519 and without a passphrase, as "openssl genpkey -algorithm ed25519" makes it; ' +
      'this user must be able to read it',
    { cause },
  );
}
