import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';

/** PEM files. */
export interface Certificate {
  certFile: string;
  keyFile: string;
}

/**
 * When the certificate ends, in milliseconds since 1970. Throws a sentence when the files cannot be read or do not belong
 * together: the socket library only says that it failed.
 */
export function checkCertificate({ certFile, keyFile }: Certificate): number {
  try {
    const cert = readFileSync(certFile);
    createSecureContext({ cert, key: readFileSync(keyFile) });
    return Date.parse(new X509Certificate(cert).validTo);
  } catch (error) {
    throw new Error(
      `cannot serve TLS with the certificate ${certFile} and the key ${keyFile}: ${(error as Error).message}; ` +
        'BALLAST_TLS_CERT and BALLAST_TLS_KEY must name PEM files that this user may read: the certificate and behind it its chain, and its key without a passphrase',
      { cause: error },
    );
  }
}
