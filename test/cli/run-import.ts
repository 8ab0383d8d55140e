import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Client } from '../harness/client.js';
import { startSplit } from '../harness/messages.js';
import { runInProcess } from '../harness/run-in-process.js';
import { temporaryFolder } from '../harness/temporary-folder.js';

export const runImport = ({ url, token }: Pick<Client, 'url' | 'token'>, ...args: string[]) =>
  runInProcess(['import', ...args], { BALLAST_URL: url, BALLAST_TOKEN: token });

/** Writes a file to a new folder and returns its path. */
export function writeReport(text: string | object, name = 'report'): string {
  const file = join(temporaryFolder(), name);
  writeFileSync(file, typeof text === 'string' ? text : JSON.stringify(text));
  return file;
}

/** Returns the estimates that a client gets for paths. */
export async function fetchEstimates(server: Client, paths: readonly string[], branch = 'main'): Promise<Record<string, number | null>> {
  const { json } = await startSplit(server, paths, { commit_hash: `ask-${Math.random()}`, branch, node_total: 1 });
  return Object.fromEntries(
    (json.test_files as { path: string; time_execution: number | null }[]).map(({ path, time_execution }) => [path, time_execution]),
  );
}

/** Returns all builds of a server with their runs. */
export const fetchBuilds = async (server: Client) => {
  const { json } = await server.get('/v1/builds');
  const builds = [];
  for (const { id, commit_hash, branch, node_total } of json.data as Record<string, string>[]) {
    const detail = (await server.get(`/v1/builds/${id}`)).json as { build_subsets: { node_index: number; test_files: object[] }[] };
    builds.push({
      commit_hash,
      branch,
      node_total,
      runs: detail.build_subsets.map(({ node_index, test_files }) => ({ node_index, test_files })),
    });
  }
  return builds;
};
