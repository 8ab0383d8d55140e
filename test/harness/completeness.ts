import { expect } from 'vitest';
import type { Client, Reply } from './client.js';
import { buildKey, record, timedTestFiles } from './messages.js';

/** Asks the completeness gate. */
export function getCompleteness(client: Client, more: Record<string, string | number> = {}): Promise<Reply> {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries({ ...buildKey, ...more })) query.set(name, String(value));
  return client.get(`/v1/builds/completeness?${query.toString()}`);
}

/** Expects an answer of the gate with this status and these fields. */
export async function expectCompleteness(client: Client, more: Record<string, string | number>, status: number, json: object = {}) {
  expect(await getCompleteness(client, more)).toMatchObject({ status, json });
}

/** Records a run of a node with one second for each file. */
export const recordPaths = (client: Client, node_index: number, paths: readonly string[], more: object = {}) =>
  record(client, { ...buildKey, node_index, test_files: timedTestFiles(Object.fromEntries(paths.map(path => [path, 1]))), ...more });

/** An answer of the gate about a build of which nothing is to be said. */
export const nothingMissing = {
  about: {},
  may_be_empty: false,
  no_test_ran: false,
  errors: [],
  warnings: [],
  never_handed_out: [],
  handed_out_not_recorded: [],
  ran_not_recorded: [],
  handed_on: [],
  recorded_twice: [],
  recorded_not_handed_out: [],
  recorded_without_time: [],
  nodes_came: [0, 1],
  nodes_never_came: [],
};
