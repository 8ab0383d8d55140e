import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';

/** A certificate that expires sooner causes a warning when it is read. */
export const CERTIFICATE_WARNING_DAYS = 7;

/** Paths of PEM files. */
export interface Certificate {
  certFile: string;
  keyFile: string;
}

export function readPem({ certFile, keyFile }: Certificate): { cert: Buffer; key: Buffer } {
  return { cert: readFileSync(certFile), key: readFileSync(keyFile) };
}

/**
 * Returns the expiry time of the certificate, in milliseconds since 1970. Throws an error with a full message if the files cannot be
 * read or do not match. The socket library would only report that it failed.
 */
export function checkCertificate({ certFile, keyFile }: Certificate): number {
  try {
    const { cert, key } = readPem({ certFile, keyFile });
    createSecureContext({ cert, key });
    return Date.parse(new X509Certificate(cert).validTo);
  } catch (error) {
    throw new Error(
      `cannot serve TLS with the certificate ${certFile} and the key ${keyFile}: ${(error as Error).message}; ` +
        'set BALLAST_TLS_CERT to a PEM file with the certificate followed by its chain, and BALLAST_TLS_KEY to one with its key, ' +
        'without a passphrase; this user must be able to read both',
      { cause: error },
    );
  }
}
