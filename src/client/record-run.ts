import { counted, say } from '../terminal.js';
import { recordingAnswer } from './answers.js';
import type { Api } from './api.js';
import type { RecordedFile } from './batch-results.js';
import type { Identity } from './ci/identity.js';

/** Records what a node ran, and says so, or what the server says instead. Returns whether the server stored it. */
export async function recordRun(api: Api, { node_index, node_total, branch, commit_hash }: Omit<Identity, 'build_id'>, test_files: readonly RecordedFile[], retries?: number): Promise<boolean> {
  const { isStored, message } = await api.post('/v1/build_subsets', { node_index, node_total, branch, commit_hash, test_files }, recordingAnswer, retries);
  if (message) say(message);
  if (!isStored) return false;
  if (test_files.length === 0) return true;
  const seconds = test_files.reduce((sum, { time_execution }) => sum + time_execution, 0);
  say(`recorded ${counted(test_files.length, 'test file')}, ${seconds.toFixed(1)} s, as node ${node_index} of ${node_total}`);
  return true;
}
