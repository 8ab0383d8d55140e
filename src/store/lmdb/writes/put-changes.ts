import { setImmediate as nextTurn } from 'node:timers/promises';
import { asBinary } from 'lmdb';
import type { Change } from '../../../engine/ports/queues.js';
import { limits } from '../../../limits.js';
import { encodeChanges } from '../codecs/batch-codec.js';
import type { Tables } from '../tables.js';
import { putInChunks } from './put-in-chunks.js';

/**
 * Puts the changes of queues that one checkpoint has, a record for each queue. Resolves when they are on disk. They are encoded before,
 * some in each turn of the event loop, because every turn with puts is a transaction and costs ten times what encoding a change does.
 *
 * @param last the number of the last record of the journal that it has
 */
export async function putChanges(
  batches: Tables['batches'],
  last: number,
  changes: Iterable<readonly [queue: string, changes: readonly Change[]]>,
): Promise<void> {
  const encoded: (readonly [queue: string, changes: Buffer])[] = [];
  let count = 0;
  for (const [queue, ofQueue] of changes) {
    encoded.push([queue, encodeChanges(ofQueue)]);
    count += ofQueue.length;
    if (count < limits.putsPerTurn) continue;
    count = 0;
    await nextTurn();
  }
  await putInChunks(encoded, ([queue, bytes]) => batches.put([queue, last], asBinary(bytes) as never));
}
