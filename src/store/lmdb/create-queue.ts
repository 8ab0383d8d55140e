import type { Batch } from '../../engine/queue/batch.js';
import type { Blobs } from './blobs.js';
import { createOnce } from './create-once.js';
import type { Parts } from './open.js';
import { findQueue } from './queue-keys.js';
import type { ForecastRecord, Millis, QueueRecord } from './records.js';

/** What a queue has beside its files and their weights. */
export interface QueueContent {
  record: QueueRecord;
  forecast: ForecastRecord;
  /** Of a copy, what was handed out before; else null. */
  batches: Batch[] | null;
}

/**
 * Puts a queue unless there is one under the key already. Returns the id of the one in force, null when its content is
 * gone by the time it is asked for.
 */
export function installQueue(
  store: Parts,
  key: string,
  id: string,
  at: Millis,
  pieces: () => Blobs,
  content: () => QueueContent | null,
): Promise<string | null> {
  return createOnce(store, {
    name: `queue ${key}`,
    expiry: [at, 'queue', id, key],
    find: () => findQueue(store, key),
    pieces,
    put() {
      const given = content();
      if (!given) return null;
      const { record, forecast, batches } = given;
      void store.queues.put(id, record);
      void store.queuesOfNodeBuild.put(key, id);
      void store.queuesOfBuild.put(record.build, id);
      void store.forecasts.put(id, forecast);
      if (batches) void store.batches.put([id, 0], batches);
      return id;
    },
  });
}
