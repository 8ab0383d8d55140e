import { performance } from 'node:perf_hooks';
import { Refusal, sendJson } from '../../test/testbed/client.js';
import { type Mode, type NodeProcess, RECORDING, startProcess } from '../../test/testbed/node-process.js';
import { showStatus } from '../../test/testbed/progress.js';
import type { Timings } from './timings.js';

export interface Server {
  url: string;
  token: string;
}

/** The part of one node. */
export interface NodeResult {
  files: number;
  batches: number;
  seconds: number;
}

interface SplitAnswer {
  build_distribution_id: string;
  test_files: { path: string }[];
}

/** A build whose test files take the given times. Its nodes are simulated, and send the requests of real ones. */
export class Build {
  constructor(
    readonly timings: Timings,
    readonly key: { commit_hash: string; branch: string; node_total: number },
    readonly server: Server,
  ) {}

  /** Records the times. The files go to the nodes in rotation. */
  async record(): Promise<void> {
    const files = [...this.timings].map(([path, time_execution]) => ({ path, time_execution }));
    await this.#eachNode(node_index => {
      const test_files = files.filter((_, i) => i % this.key.node_total === node_index);
      return this.#post(RECORDING, { node_index, test_files });
    });
  }

  /** Requests a split in regular mode, as all nodes at the same time. */
  async split(): Promise<{ nodes: NodeResult[]; milliseconds: number }> {
    const fields = { ci_build_id: 'replay', user_seat: 'replay', fixed_test_suite_split: true };
    const start = performance.now();
    const answers = await this.#eachNode(async node_index => {
      return (await this.#process('split', { ...fields, node_index }).next()).answer as SplitAnswer;
    });
    const milliseconds = performance.now() - start;
    if (new Set(answers.map(answer => answer.build_distribution_id)).size !== 1)
      throw new Error('the nodes got different splits of one build');
    const paths = answers.map(({ test_files }) => test_files.map(({ path }) => path));
    this.#expectEachOnce(paths.flat(), 'regular mode');
    const nodes = paths.map(node => ({ files: node.length, batches: 1, seconds: this.#secondsOf(node) }));
    return { nodes, milliseconds };
  }

  /**
   * Runs the queue in virtual time: the node that is free first pulls next.
   * @param clock clock of a server that also runs in virtual time
   */
  async runQueue(pullCost: number, clock: { millis: number }): Promise<NodeResult[]> {
    const nodes: NodeResult[] = Array.from({ length: this.key.node_total }, () => ({ files: 0, batches: 0, seconds: 0 }));
    const processes = nodes.map((_, node_index) => this.#process('queue', { node_index, node_build_id: 'replay', user_seat: 'replay' }));
    const ran: string[] = [];
    const start = clock.millis;
    const running = new Set(nodes.keys());
    while (running.size > 0) {
      const node_index = [...running].reduce((first, other) => (nodes[other]!.seconds < nodes[first]!.seconds ? other : first));
      const node = nodes[node_index]!;
      clock.millis = start + Math.round(node.seconds * 1000);
      const batch = (await processes[node_index]!.next()).paths;
      if (batch.length === 0) {
        running.delete(node_index);
        continue;
      }
      for (const path of batch) ran.push(path);
      showStatus(`queue mode: ${ran.length.toLocaleString('en')} of ${this.timings.size.toLocaleString('en')} files run`);
      node.batches += 1;
      node.files += batch.length;
      node.seconds += pullCost + this.#secondsOf(batch);
    }
    showStatus('');
    this.#expectEachOnce(ran, 'queue mode');
    return nodes;
  }

  #process(mode: Mode, fields: object): NodeProcess {
    return startProcess({ mode, fields, paths: [...this.timings.keys()] }, (path, body) => this.#post(path, body));
  }

  #post(path: string, body: object): Promise<unknown> {
    const { url, token } = this.server;
    const address = `${url.replace(/\/+$/, '').replace(/\/v1$/, '')}${path}`;
    const sent = sendJson(address, { 'SERVICE-TEST-SUITE-TOKEN': token }, { ...this.key, ...body }, `POST ${path} was answered with`);
    return sent.catch((error: unknown) => {
      if (error instanceof Refusal) throw error;
      throw new Error(`POST ${address} was not answered: ${String((error as Error).cause ?? error)}`);
    });
  }

  #eachNode<T>(run: (node_index: number) => Promise<T>): Promise<T[]> {
    return Promise.all(Array.from({ length: this.key.node_total }, (_, node_index) => run(node_index)));
  }

  #secondsOf(paths: readonly string[]): number {
    return paths.reduce((sum, path) => sum + this.timings.get(path)!, 0);
  }

  #expectEachOnce(ran: readonly string[], mode: string): void {
    const paths = new Set(ran);
    const lost = [...this.timings.keys()].filter(path => !paths.has(path));
    if (lost.length > 0) throw new Error(`${mode} lost ${lost.length} files, the first is ${lost[0]}`);
    if (ran.length > paths.size) throw new Error(`${mode} handed out ${ran.length - paths.size} files twice`);
  }
}
