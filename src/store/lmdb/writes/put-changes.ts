import type { Tables } from '../tables.js';
import { putInChunks } from './put-in-chunks.js';

/**
 * Puts the changes of queues that one checkpoint has, a record for each queue. Resolves when they are on disk.
 *
 * @param last the number of the last record of the journal that it has
 * @param changes by queue, oldest first, encoded
 */
export function putChanges(batches: Tables['batches'], last: number, changes: ReadonlyMap<string, Buffer[]>): Promise<void> {
  return putInChunks(changes, ([queue, ofQueue]) => batches.put([queue, last], ofQueue));
}
