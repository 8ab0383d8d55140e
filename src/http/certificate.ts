import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';

/** PEM files. */
export interface Certificate {
  certFile: string;
  keyFile: string;
}

/** Throws a sentence when the files cannot be read or do not belong together: the socket library only says that it failed. */
export function checkCertificate({ certFile, keyFile }: Certificate): void {
  try {
    createSecureContext({ cert: readFileSync(certFile), key: readFileSync(keyFile) });
  } catch (error) {
    throw new Error(
      `cannot serve TLS with the certificate ${certFile} and the key ${keyFile}: ${(error as Error).message}; ` +
        'BALLAST_TLS_CERT and BALLAST_TLS_KEY must name PEM files that this user may read, the certificate with its chain',
      { cause: error },
    );
  }
}
