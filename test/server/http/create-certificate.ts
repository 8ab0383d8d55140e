import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import selfsigned from 'selfsigned';
import { temporaryFolder } from '../../harness/temporary-folder.js';

/** Writes a self-signed certificate and its key to files. */
export function createCertificate(commonName: string, folder = temporaryFolder(), days = 365): { tlsCert: string; tlsKey: string } {
  const { cert, private: key } = selfsigned.generate([{ name: 'commonName', value: commonName }], {
    keySize: 2048,
    algorithm: 'sha256',
    days,
  });
  const files = { tlsCert: join(folder, 'cert.pem'), tlsKey: join(folder, 'key.pem') };
  writeFileSync(files.tlsCert, cert);
  writeFileSync(files.tlsKey, key);
  return files;
}
