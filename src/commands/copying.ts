import { openStore } from '../store/open.js';
import { endAtOnce } from './end-at-once.js';

/** The process that copies a store for `backup`: a copy that has begun can be ended only together with its process. */

// Whoever sends one to all of a terminal's processes sends it to `backup`, too, which ends this one.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});
process.on('disconnect', endAtOnce);
if (!process.connected) endAtOnce();

const [dataDir, target] = process.argv.slice(2) as [string, string];
const store = openStore(dataDir);
try {
  // Compact: without the pages that are free.
  await store.root.backup(target, true);
} catch (error) {
  process.send!((error as Error).message);
} finally {
  await store.root.close();
  process.off('disconnect', endAtOnce);
  process.disconnect();
}
