import { openStore } from '../../store/lmdb/open.js';
import { hardExit } from '../process/hard-exit.js';

/** The process that copies a store for `backup`. LMDB cannot stop a copy: only killing its process does. */

// A signal from the terminal also reaches `backup`, which kills this process.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});
process.on('disconnect', hardExit);
if (!process.connected) hardExit();

const [dataDir, target] = process.argv.slice(2) as [string, string];
const store = openStore(dataDir);
try {
  // true: compact, without free pages.
  await store.root.backup(target, true);
} catch (error) {
  process.send!((error as Error).message);
} finally {
  await store.root.close();
  process.off('disconnect', hardExit);
  process.disconnect();
}
