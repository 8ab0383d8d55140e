import { createPublicKey } from 'node:crypto';
import { expect, it } from 'vitest';
import { said } from '../harness/process.js';
import { runInProcess } from '../harness/run-in-process.js';
import { startServerOnDisk } from '../harness/server.js';

it('rotate-receipt-key prints the key that a running server lists first from then on', async () => {
  const server = await startServerOnDisk();
  const keys = async () => (await server.get('/v1/receipt_keys')).json.public_keys as string[];
  const before = await keys();
  const { code, stdout } = await runInProcess(['rotate-receipt-key', '--data-dir', server.dataDir]);
  expect(code).toBe(0);
  expect(createPublicKey(stdout).asymmetricKeyType).toBe('ed25519');
  expect(await keys()).toEqual([stdout, ...before]);
});

it('rotate-receipt-key is refused while a file has the key, and says what to do', async () => {
  const rotated = await runInProcess(['rotate-receipt-key', '--data-dir', '/nowhere'], { BALLAST_RECEIPT_KEY_FILE: '/run/key.pem' });
  expect(rotated).toEqual(
    said(
      2,
      'BALLAST_RECEIPT_KEY_FILE is /run/key.pem: the server signs with the key in this file, not with one of the store; put another key into the file and start the server again, which lists the one before, too',
    ),
  );
});
