import type { Client } from './client.js';
import type { Clock } from './clock.js';
import { initialise, pathsIn, pull, record } from './messages.js';

/** Nodes that run a build in virtual time, by index. */
export interface VirtualBuild {
  commit_hash: string;
  paths: readonly string[];
  /** Seconds of each file on a node of speed 1. */
  seconds: ReadonlyMap<string, number>;
  /** Seconds from the start of the build to that of each node. */
  starts: readonly number[];
  speeds: readonly number[];
  /** Seconds that the next batch costs a node. */
  pullCost: () => number;
  /** Seconds of each file that its node does not record (default: none). */
  hidden?: number;
}

interface VirtualNode {
  index: number;
  time: number;
  ran: { path: string; time_execution: number }[];
}

/** Runs a build over HTTP. The clock is the server's. Returns the wall time in seconds: from the first start to the end of the last node. */
export async function runVirtualBuild(client: Client, clock: Clock, build: VirtualBuild): Promise<number> {
  const began = clock.millis;
  const nodes = build.starts.map((time, index): VirtualNode => ({ index, time, ran: [] }));
  const node_total = nodes.length;
  const key = { commit_hash: build.commit_hash, node_total };
  const working = new Set(nodes);
  const setClock = (seconds: number) => (clock.millis = began + Math.round(seconds * 1000));
  while (working.size > 0) {
    const node = [...working].reduce((first, other) => (other.time < first.time ? other : first));
    setClock(node.time);
    const paths = await nextFiles(client, build, { ...key, node_index: node.index }, node.ran.length === 0);
    if (paths.length === 0) {
      working.delete(node);
      continue;
    }
    const ran = paths.map(path => ({ path, time_execution: build.seconds.get(path)! / build.speeds[node.index]! }));
    node.ran.push(...ran);
    const tests = ran.reduce((sum, { time_execution }) => sum + time_execution, 0);
    node.time += build.pullCost() + tests + ((build.hidden ?? 0) * ran.length) / build.speeds[node.index]!;
  }
  const worked = nodes.filter(({ ran }) => ran.length > 0).sort((a, b) => a.time - b.time);
  for (const { index, time, ran } of worked) {
    setClock(time);
    await record(client, { ...key, node_index: index, test_files: ran });
  }
  return worked.at(-1)!.time - Math.min(...worked.map(({ index }) => build.starts[index]!));
}

async function nextFiles(client: Client, { paths, commit_hash }: VirtualBuild, node: object, isFirst: boolean): Promise<string[]> {
  const queue = { ...node, node_build_id: commit_hash };
  return pathsIn(isFirst ? await initialise(client, paths, queue) : await pull(client, queue));
}
