import type { Millis } from '../../engine/ports/store.js';
import type { BatchRecord } from './codecs/batch-codec.js';
import type { Parts } from './parts.js';
import type { ForecastRecord, QueueRecord } from './records.js';
import type { Blobs } from './writes/blobs.js';
import { createOnce } from './writes/create-once.js';

export interface QueueCreation {
  /** The digest of its key. */
  key: string;
  id: string;
  at: Millis;
  /** The files and their weights. */
  blobs(): Blobs;
  /** The rest, read within the write transaction; null: the queue to copy has expired. */
  content(): QueueContent | null;
}

interface QueueContent {
  record: QueueRecord;
  forecast: ForecastRecord;
  /** Of a copy, what nodes of the copied queue were handed; else null. */
  batches: BatchRecord[] | null;
}

/** Puts a queue unless there is one under its key. Resolves with the id of the existing one; null: the content has expired. */
export function putQueue(parts: Parts, { key, id, at, blobs, content }: QueueCreation): Promise<string | null> {
  return createOnce(parts, {
    name: `queue ${key}`,
    expiry: [at, 'queue', id, key],
    find: () => parts.queuesOfNodeBuild.get(key) ?? null,
    blobs,
    put() {
      const found = content();
      if (!found) return null;
      const { record, forecast, batches } = found;
      void parts.queues.put(id, record);
      void parts.queuesOfNodeBuild.put(key, id);
      void parts.queuesOfBuild.put(record.build, id);
      void parts.forecasts.put(id, forecast);
      if (batches) void parts.batches.put([id, 0], batches);
      return id;
    },
  });
}
