import type { Batch } from '../engine/queue.js';
import { type Pieces, putAhead, putPieces, takeBack } from './blobs.js';
import { commit } from './commit.js';
import type { ExpiryKey, Store } from './open.js';
import { findQueue } from './queue-keys.js';
import type { ForecastRecord, Millis, QueueRecord } from './records.js';

/** What a queue has beside the blocks of its files. */
export interface QueueContent {
  record: QueueRecord;
  weights: Buffer;
  forecast: ForecastRecord;
  /** Of a copy, what was handed out before; else null. */
  batches: Batch[] | null;
}

/**
 * Puts a queue unless there is one under the key already. Returns the id of the one in force, null when its content is
 * gone by the time it is asked for.
 */
export async function installQueue(
  store: Store,
  key: string,
  id: string,
  at: Millis,
  blocks: Pieces,
  content: () => QueueContent | null,
): Promise<string | null> {
  const expiry: ExpiryKey = [at, 'queue', id, key];
  const ahead = await putAhead(store, blocks, expiry);
  const inForce = await commit(store, () => {
    const known = findQueue(store, key);
    if (known !== null) return known;
    const given = content();
    if (!given) return null;
    const { record, weights, forecast, batches } = given;
    void store.queues.put(id, record);
    void store.queuesOfNodeBuild.put(key, id);
    void store.queuesOfBuild.put(record.build, id);
    void store.expiry.put(expiry, true);
    putPieces(store, blocks, ahead);
    void store.blobs.put([id, 'weights'], weights);
    void store.forecasts.put(id, forecast);
    if (batches) void store.batches.put([id, 0], batches);
    return id;
  });
  if (inForce !== id) await takeBack(store, id, ahead, expiry);
  return inForce;
}
