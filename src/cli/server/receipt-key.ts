import { print, printToStderr } from '../../base/terminal.js';
import { UsageError } from '../../base/usage-error.js';
import { publicReceiptKeys, rotateReceiptKey } from '../../server/engine/proof/receipt-keys.js';
import type { StoreSource } from '../../server/store/source.js';
import { withExistingStore } from './with-store.js';

/**
 * Makes another key that signs receipts, and prints its public key. A running server signs with it at its next receipt.
 *
 * @param file the setting of the server that names a file with its key
 */
export async function rotateKey(source: StoreSource, file: string | undefined): Promise<void> {
  if (file)
    throw new UsageError([
      `BALLAST_RECEIPT_KEY_FILE is ${file}: the server signs with the key in this file, not with one of the store; put another key into the file and start the server again, which lists the one before, too`,
    ]);
  await withExistingStore(source, async ({ values }) => {
    await rotateReceiptKey(values);
    const [key, ...before] = await publicReceiptKeys(values, null);
    for (const line of key!.trimEnd().split('\n')) print(line);
    printToStderr(
      `a server without BALLAST_RECEIPT_KEY_FILE signs receipts with this key from now on; those of ${before.length} before are listed by "ballast receipt key"`,
    );
  });
}
