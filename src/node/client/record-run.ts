import { printToStderr } from '../../base/terminal.js';
import { filesText } from '../../protocol/piece-path.js';
import type { BuildNode } from '../ci/identity.js';
import { parseRecording } from './answers.js';
import type { Api } from './api.js';
import type { RecordedFile } from './batch-results.js';

/**
 * Records the run of a node and prints a summary, or the message of the server. Returns whether the server stored the run.
 *
 * @param tellsOutcomes whether the outcomes of the files are known: the exit code of the test runner may tell a failure that no report has
 */
export async function recordRun(
  api: Api,
  { build_id: ci_build_id, ...node }: BuildNode & { build_id?: string | undefined },
  test_files: readonly RecordedFile[],
  { retries, tellsOutcomes = true }: { retries?: number; tellsOutcomes?: boolean } = {},
): Promise<boolean> {
  const told = tellsOutcomes ? { tells_outcomes: true, test_files } : { test_files: test_files.map(({ outcome: _, ...file }) => file) };
  const { isStored, message } = await api.post('/v1/build_subsets', { ...node, ci_build_id, ...told }, parseRecording, retries);
  if (message) printToStderr(message);
  if (!isStored) return false;
  if (test_files.length === 0) return true;
  const seconds = test_files.reduce((sum, { time_execution }) => sum + time_execution, 0);
  printToStderr(
    `recorded ${filesText(test_files.map(({ path }) => path))}, ${seconds.toFixed(1)} s, as node ${node.node_index} of ${node.node_total}`,
  );
  return true;
}
