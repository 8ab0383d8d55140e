import { print, printToStderr } from '../../base/terminal.js';
import { publicKeysOf, rotateReceiptKey } from '../../server/engine/proof/receipt-keys.js';
import type { StoreSource } from '../../server/store/source.js';
import { withExistingStore } from './with-store.js';

/** Makes another key that signs receipts, and prints its public key. A running server signs with it at its next receipt. */
export function rotateKey(source: StoreSource): Promise<void> {
  return withExistingStore(source, async ({ values }) => {
    const [key, ...before] = publicKeysOf(await rotateReceiptKey(values));
    for (const line of key!.trimEnd().split('\n')) print(line);
    printToStderr(`receipts are signed with this key from now on; those of ${before.length} before are listed by "ballast receipt key"`);
  });
}
