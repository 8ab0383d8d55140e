import type { Api } from './api.js';
import type { RecordedFile } from './batch-results.js';
import type { Identity } from './ci/identity.js';
import { say } from './say.js';

/** Records what a node ran. The server's sentence, if it has one, is said. */
export async function recordRun(api: Api, { node_index, node_total, branch, commit_hash }: Omit<Identity, 'build_id'>, test_files: readonly RecordedFile[], retries?: number): Promise<void> {
  const answer = await api.post('/v1/build_subsets', { node_index, node_total, branch, commit_hash, test_files }, retries);
  const { message } = (answer ?? {}) as { message?: string };
  if (message) say(message);
}
