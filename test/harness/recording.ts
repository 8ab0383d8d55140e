import { waitingCaller } from '../../src/engine/caller.js';
import type { NodeKey } from '../../src/engine/keys.js';
import type { Recorded } from '../../src/engine/ports/recordings.js';
import type { Store } from '../../src/engine/ports/store.js';
import { newRun } from '../../src/engine/recordings.js';
import type { RecordedTestFile } from '../../src/engine/test-file.js';
import { whenSaved } from '../../src/soon.js';

/** Records one run of a node, as POST /build_subsets does. */
export function recordRun(
  { recordings }: Pick<Store, 'recordings'>,
  project: number,
  node: NodeKey,
  files: readonly RecordedTestFile[],
  at: number,
  isRetry = false,
): Promise<Recorded> {
  return whenSaved(recordings.record(project, node, newRun(files), { ...waitingCaller, isRetry }, at));
}
