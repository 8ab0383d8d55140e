import type { Api } from './api.js';
import type { RecordedFile } from './batch-results.js';
import type { Identity } from './ci/identity.js';
import { counted, say } from './say.js';

/** Records what a node ran, and says so. The server's sentence, if it has one, is said, too. */
export async function recordRun(api: Api, { node_index, node_total, branch, commit_hash }: Omit<Identity, 'build_id'>, test_files: readonly RecordedFile[], retries?: number): Promise<void> {
  const answer = await api.post('/v1/build_subsets', { node_index, node_total, branch, commit_hash, test_files }, retries);
  const { message } = (answer ?? {}) as { message?: string };
  if (message) say(message);
  const seconds = test_files.reduce((sum, { time_execution }) => sum + time_execution, 0);
  say(`recorded ${counted(test_files.length, 'test file')}, ${seconds.toFixed(1)} s, as node ${node_index} of ${node_total}`);
}
