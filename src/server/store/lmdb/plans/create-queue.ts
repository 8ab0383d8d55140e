import { randomUUID } from 'node:crypto';
import { beginningCiRun } from '../../../engine/ci-run.js';
import { buildDigest, type QueueKey } from '../../../engine/keys.js';
import type { NewQueue } from '../../../engine/ports/queues.js';
import type { Millis } from '../../../engine/ports/store.js';
import { copyOf } from '../../../engine/queue/batch.js';
import type { Forecast } from '../../../planning/forecasting/forecast.js';
import { encodeParts } from '../../codecs/plan-parts.js';
import { encodeChange } from '../../codecs/queue-changes.js';
import { runsRecordedOf } from '../builds.js';
import { putCiRun } from '../ci-runs.js';
import type { Parts } from '../parts.js';
import type { QueueRecord } from '../records.js';
import { blobsOf } from '../writes/blobs.js';
import { type Creation, createOnce } from '../writes/create-once.js';
import { batchesOf } from './read-queue.js';

/**
 * Creates a queue unless its key has one. Resolves with whether it did.
 *
 * @param born called with the record when the queue is about to be found
 */
export async function createQueue(
  parts: Parts,
  key: QueueKey,
  { list, files, weights, basis, cuts, first, guessed, learned, forecast }: NewQueue,
  at: Millis,
  born: (id: string, record: QueueRecord) => void,
): Promise<boolean> {
  const id = randomUUID();
  const build = buildDigest(key.project, key.build);
  const existing = await putQueue(parts, {
    key,
    id,
    at,
    blobs: () => encodeParts({ files, basis, weights, cuts, first }),
    content() {
      const record = {
        name: key.digest,
        node_total: key.build.node_total,
        guessed,
        learned,
        copied: null,
        list,
        created_at: at,
        runs_before: runsRecordedOf(parts, build),
        used_at: at,
        build,
      };
      born(id, record);
      return { record, forecast, batches: null };
    },
  });
  return existing === id;
}

/** Copies the newest queue of the build to a key, unless the key has a queue. False: the build has none to copy. */
export async function copyQueue(parts: Parts, key: QueueKey, at: Millis): Promise<boolean> {
  const build = buildDigest(key.project, key.build);
  const original = parts.queuesOfBuild.get(build);
  if (original === undefined) return false;
  const id = randomUUID();
  const existing = await putQueue(parts, {
    key,
    id,
    at,
    blobs: () => blobsOf(parts, original),
    content: () => {
      const record = parts.queues.get(original);
      // It expired meanwhile.
      if (!record) return null;
      const { other_list: _ofOriginal, ...own } = record;
      return {
        record: { ...own, copied: { runs_before: runsRecordedOf(parts, build), at }, used_at: at },
        forecast: parts.forecasts.get(original)!,
        batches: copyOf(batchesOf(parts, original)).map(encodeChange),
      };
    },
  });
  return existing !== null;
}

interface QueueCreation extends Pick<Creation<string>, 'id' | 'blobs'> {
  key: QueueKey;
  at: Millis;
  /**
   * Its other fields, and of a copy the encoded batches of the copied queue, read when it is put. Null: the queue to copy has expired.
   */
  content(): { record: QueueRecord; forecast: Forecast; batches: Buffer[] | null } | null;
}

/** Puts a queue unless its key has one. Resolves with the id of the queue that then exists; null: the content has expired. */
function putQueue(parts: Parts, { key, id, at, blobs, content }: QueueCreation): Promise<string | null> {
  return createOnce(parts, {
    name: `queue ${key.digest}`,
    id,
    project: key.project,
    expiry: [at, 'queue', id, key.digest],
    blobs,
    find: () => parts.queuesOfNodeBuild.get(key.digest) ?? null,
    put() {
      const found = content();
      if (!found) return null;
      const { record, forecast, batches } = found;
      void parts.queues.put(id, record);
      void parts.queuesOfNodeBuild.put(key.digest, id);
      void parts.queuesOfBuild.put(record.build, id);
      void parts.forecasts.put(id, forecast);
      if (batches) void parts.batches.put([id, 0], batches);
      const runs_before = runsRecordedOf(parts, record.build);
      putCiRun(parts, beginningCiRun(key, { id, kind: 'queue', plan: id, created_at: at, runs_before }));
      return id;
    },
  });
}
