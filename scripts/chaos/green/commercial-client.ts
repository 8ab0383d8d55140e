import { randomUUID } from 'node:crypto';
import { appendFileSync } from 'node:fs';
import { headers } from '../../../test/testbed/client.js';
import { type ProcessOptions, RECORDING, startProcess } from '../../../test/testbed/node-process.js';
import { parseObject } from './evidence.js';
import { BRANCH, COMMIT, type Exit, type RunningJob } from './own-client.js';
import { type FileRun, formatFileRun } from './runner.js';
import { type CiRun, type Job, jobName } from './scenario.js';

/** A node that behaves like a commercial client: it sends the same requests and handles failures in the same way. */

/** The server is unavailable: the client splits by file name. */
class ServerUnavailable extends Error {}
/** The error that ends the client. */
class ClientError extends Error {}

export function startCommercial(run: CiRun, job: Job, { url, ran, start }: { url: string; ran: string; start: number }): RunningJob {
  const killed = new AbortController();
  const node = new CommercialNode(run, job, url, ran, start, killed.signal);
  return { exit: node.run(), kill: () => killed.abort() };
}

class CommercialNode {
  readonly #done: { path: string; time_execution: number }[] = [];
  #hasFailed = false;
  #batches = 0;

  constructor(
    readonly ciRun: CiRun,
    readonly job: Job,
    readonly url: string,
    readonly ran: string,
    readonly start: number,
    readonly killed: AbortSignal,
  ) {}

  async run(): Promise<Exit> {
    try {
      await this.#runTests();
      await this.#ask(RECORDING, { test_files: this.#done });
      return { code: this.#hasFailed ? 1 : 0, output: '' };
    } catch (error) {
      return { code: this.killed.aborted ? 137 : 1, output: `${(error as Error).message}\n` };
    }
  }

  get #node() {
    return { commit_hash: COMMIT, branch: BRANCH, node_total: this.ciRun.nodeTotal, node_index: this.job.node };
  }

  async #runTests(): Promise<void> {
    const { mode, files, fallback } = this.job;
    try {
      const process = startProcess(this.#options(), (path, body) => this.#ask(path, body));
      let { paths } = await process.next();
      if (mode === 'v1 split') this.#runFiles(paths);
      else while (paths.length > 0) ({ paths } = await process.next(this.#runFiles(paths)));
    } catch (error) {
      if (!(error instanceof ServerUnavailable) || !fallback) throw error;
      const done = new Set(this.#done.map(({ path }) => path));
      this.#runFiles(filesByName(files, this.#node).filter(path => !done.has(path)));
    }
  }

  #options(): ProcessOptions<object> {
    const { mode, files: paths } = this.job;
    const { buildId, isDynamic } = this.ciRun;
    if (mode === 'v1 split') return { mode: 'split', fields: { ci_build_id: buildId, fixed_test_suite_split: !isDynamic }, paths };
    if (mode === 'v2 queue') return { mode: 'test queue', fields: { test_queue_id: buildId, node_uuid: randomUUID() }, paths };
    const batchUuid = mode === 'v1 queue' ? randomUUID : null;
    return { mode: 'queue', fields: { node_build_id: buildId, fixed_queue_split: false }, paths, batchUuid };
  }

  /** Returns the files that failed. */
  #runFiles(paths: readonly string[]): string[] {
    this.#batches += 1;
    const failed: string[] = [];
    for (const [i, path] of paths.entries()) {
      if (this.#isKilledAt(i + 1, paths.length)) throw new ClientError('killed');
      const isFailed = path.includes('_fails') || (path.includes('_flaky') && this.start === 1);
      const outcome = isFailed ? 'failed' : path.includes('_skipped') ? 'skipped' : 'passed';
      const ran: FileRun = { buildId: this.ciRun.buildId, job: jobName(this.job), start: this.start, outcome, path };
      appendFileSync(this.ran, formatFileRun(ran));
      this.#done.push({ path, time_execution: 0.25 });
      if (isFailed) failed.push(path);
    }
    this.#hasFailed ||= failed.length > 0;
    return failed;
  }

  #isKilledAt(file: number, files: number): boolean {
    const { kill } = this.job;
    if (this.start !== 1 || !kill || !('batch' in kill.at)) return false;
    return kill.at.batch === this.#batches && (file === kill.at.file || file === files);
  }

  async #ask(path: string, fields: object): Promise<Record<string, unknown>> {
    let [status, text] = [0, ''];
    try {
      const response = await fetch(this.url + path, {
        method: 'POST',
        headers,
        body: JSON.stringify({ ...this.#node, ...fields }),
        signal: this.killed,
        redirect: 'manual',
      });
      [status, text] = [response.status, await response.text()];
    } catch (error) {
      throw this.killed.aborted ? new ClientError('killed') : new ServerUnavailable((error as Error).message);
    }
    if (status >= 500 || status === 401 || status === 429) throw new ServerUnavailable(`${path} was answered with ${status}`);
    if (status >= 300) throw new ClientError(`${path} was answered with ${status}`);
    return parseObject(text);
  }
}

/** Returns the files that a commercial client runs without a server: every n-th file in the order of names. */
function filesByName(files: readonly string[], { node_index, node_total }: { node_index: number; node_total: number }): string[] {
  return [...new Set(files)].sort().filter((_, i) => i % node_total === node_index);
}
