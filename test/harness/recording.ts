import type { NodeKey } from '../../src/server/engine/keys.js';
import type { Recorded } from '../../src/server/engine/ports/recordings.js';
import type { Store } from '../../src/server/engine/ports/store.js';
import { newRun } from '../../src/server/engine/recordings.js';
import type { RecordedTestFile } from '../../src/server/engine/test-file.js';
import { waitingCaller, whenSaved } from '../testbed/waiting.js';

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
