import { dirname } from 'node:path';
import { openParts } from '../../store/lmdb/parts.js';
import { openTables } from '../../store/lmdb/tables.js';
import { hardExit } from '../process/exit.js';

/** The process that copies a store and its journal into one file for `backup`. LMDB cannot stop a copy: only killing its process does. */

// A signal from the terminal also reaches `backup`, which kills this process.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});
process.on('disconnect', hardExit);
if (!process.connected) hardExit();

const [dataDir, target] = process.argv.slice(2) as [string, string];
const { root, journal } = openParts(dataDir);
try {
  // Before the copy: a checkpoint may move changes from the journal to the store meanwhile.
  journal.read();
  root.resetReadTxn();
  // true: compact, without free pages.
  await root.backup(target, true);
  const copy = openTables(dirname(target));
  await journal.complete(copy).finally(() => copy.root.close());
} catch (error) {
  process.send!((error as Error).message);
} finally {
  await root.close();
  process.off('disconnect', hardExit);
  process.disconnect();
}
