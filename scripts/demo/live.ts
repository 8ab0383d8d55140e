import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { HandedPiece } from '../../src/protocol/messages/queue.js';
import { sendJson } from '../../test/testbed/client.js';
import type { Calendar } from './calendar.js';
import type { CiRun } from './ci-run.js';
import { type Handed, type NodeRequest, startNode } from './node.js';
import type { RunningNode } from './past.js';

/** Time after the last CI run at which the next one begins. */
const EVERY_SECONDS = 60;

export interface LiveProject {
  token: string;
  calendar: Calendar;
  running: readonly RunningNode[];
}

/**
 * Lets nodes run on in real time, as clients of the server, and starts a CI run a minute, of each project in turn.
 * Ends when the signal aborts.
 *
 * @param failed called when the server refuses a request, for example because its token was revoked: that node ends
 */
export async function playLive(
  url: string,
  projects: readonly LiveProject[],
  signal: AbortSignal,
  failed: (error: Error) => void,
): Promise<void> {
  // Each waiting node listens.
  setMaxListeners(0, signal);
  const nodes: Promise<void>[] = [];
  const start = (token: string, node: RunningNode) => nodes.push(runNode({ url, token, signal }, node).catch(failed));
  for (const { token, running } of projects) for (const node of running) start(token, node);
  for (let turn = 0; !signal.aborted; turn++) {
    await pause(1000 * EVERY_SECONDS, signal);
    if (signal.aborted) break;
    const { token, calendar } = projects[turn % projects.length]!;
    const run = calendar.next(Date.now());
    for (const plan of run.nodes) {
      const node = startNode(run, plan);
      start(token, { run, node_index: plan.node_index, node, request: node.next().value as NodeRequest });
    }
  }
  await Promise.all(nodes);
}

interface Connection {
  url: string;
  token: string;
  signal: AbortSignal;
}

async function runNode(connection: Connection, { run, node_index, node, request: first }: RunningNode): Promise<void> {
  let request: NodeRequest | undefined = first;
  while (request) {
    await pause(request.at - Date.now(), connection.signal);
    if (connection.signal.aborted) return;
    const { value, done }: IteratorResult<NodeRequest, void> = node.next(await send(connection, run, node_index, request));
    request = done ? undefined : (value as NodeRequest);
  }
}

/** Waits, or returns early when the signal aborts. */
async function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  await sleep(Math.max(0, milliseconds), undefined, { signal }).catch(() => {});
}

async function send(connection: Connection, run: CiRun, node_index: number, request: NodeRequest): Promise<Handed | null> {
  const node = { ...run.build, node_index };
  switch (request.kind) {
    case 'record':
      await post(connection, '/v1/build_subsets', { ...node, ci_build_id: run.id, test_files: request.files });
      if (request.told.length > 0)
        await post(connection, '/v2/test_cases', {
          ...node,
          ci_build_id: run.id,
          files: request.told,
          ...(run.runner && { runner: run.runner }),
        });
      return null;
    case 'split': {
      const test_files = run.paths.map(path => ({ path }));
      const share = await post(connection, '/v1/build_distributions/subset', {
        ...node,
        ...run.people,
        ci_build_id: run.id,
        fixed_test_suite_split: true,
        cache_read_attempt: false,
        test_files,
      });
      return { batch_id: 0, paths: (share as { test_files: { path: string }[] }).test_files.map(({ path }) => path), pieces: [] };
    }
    case 'pull': {
      const { process, batch_index, batch_id, failed } = request;
      const isFirst = batch_index === 0;
      const batch = (await post(connection, '/v2/queues/queue', {
        ...node,
        test_queue_id: run.id,
        node_uuid: process,
        batch_index,
        ...(run.runner && { pieces: run.runner }),
        can_initialize_queue: isFirst,
        attempt_connect_to_queue: false,
        ...(isFirst && { ...run.people, paths: run.paths }),
        ...(batch_id !== null && { batch_id, failed_paths: failed }),
      })) as { paths: string[]; batch_id: number | null; pieces?: HandedPiece[] };
      return batch.batch_id === null ? null : { batch_id: batch.batch_id, paths: batch.paths, pieces: batch.pieces ?? [] };
    }
  }
}

function post({ url, token }: Connection, path: string, body: object): Promise<unknown> {
  const refused = `cannot play a CI run of the demo: ${path} answered`;
  return sendJson(url + path, { 'SERVICE-TEST-SUITE-TOKEN': token }, body, refused);
}
