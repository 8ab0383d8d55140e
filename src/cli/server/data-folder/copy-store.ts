import { runChild } from '../../../base/child-process.js';
import { SNAPSHOT_SECONDS } from '../../../server/store/lmdb/folder/copy-folder.js';

/** Copies the store of a folder into a new file. `stop` ends the copy at once and rejects with its reason. */
export async function copyStore(dataDir: string, target: string, stop: AbortSignal): Promise<void> {
  await runChild('dist/src/cli/server/data-folder/copy-process.js', 'the copying process', [dataDir, target], stop);
}

/** Stops a command that reads one snapshot of the store for too long: the file of a busy server grows meanwhile. */
export function snapshotDeadline(): AbortSignal {
  const deadline = new AbortController();
  setTimeout(
    () =>
      deadline.abort(
        new Error(
          `it took longer than ${SNAPSHOT_SECONDS} s and was stopped, because the store cannot reuse freed pages during a snapshot`,
        ),
      ),
    1000 * SNAPSHOT_SECONDS,
  ).unref();
  return deadline.signal;
}
