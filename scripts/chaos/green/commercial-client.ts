import { randomUUID } from 'node:crypto';
import { appendFileSync } from 'node:fs';
import { headers } from '../../../test/testbed/client.js';
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
      await this.#ask('/v1/build_subsets', { test_files: this.#done });
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
      if (mode === 'v1 split') await this.#split();
      else if (mode === 'v2 queue') await this.#testQueue();
      else await this.#queue();
    } catch (error) {
      if (!(error instanceof ServerUnavailable) || !fallback) throw error;
      const done = new Set(this.#done.map(({ path }) => path));
      this.#runFiles(filesByName(files, this.#node).filter(path => !done.has(path)));
    }
  }

  async #split(): Promise<void> {
    const ask = (fields: object) =>
      this.#ask('/v1/build_distributions/subset', {
        ci_build_id: this.ciRun.buildId,
        fixed_test_suite_split: !this.ciRun.isDynamic,
        ...fields,
      });
    let answer = await ask({ cache_read_attempt: true });
    if ('code' in answer) answer = await ask({ cache_read_attempt: false, test_files: this.job.files.map(path => ({ path })) });
    this.#runFiles(pathsIn(answer.test_files));
  }

  async #queue(): Promise<void> {
    const hasUuids = this.job.mode === 'v1 queue';
    const ask = async (fields: object, uuid: string) =>
      this.#ask('/v1/queues/queue', {
        node_build_id: this.ciRun.buildId,
        fixed_queue_split: false,
        ...(hasUuids && { batch_uuid: uuid }),
        ...fields,
      });
    const first = randomUUID();
    let answer = await ask({ can_initialize_queue: true, attempt_connect_to_queue: true }, first);
    if ('code' in answer)
      answer = await ask(
        { can_initialize_queue: true, attempt_connect_to_queue: false, test_files: this.job.files.map(path => ({ path })) },
        first,
      );
    for (let files = pathsIn(answer.test_files); files.length > 0; ) {
      this.#runFiles(files);
      files = pathsIn((await ask({ can_initialize_queue: false, attempt_connect_to_queue: false }, randomUUID())).test_files);
    }
  }

  async #testQueue(): Promise<void> {
    const node_uuid = randomUUID();
    let batch_index = 0;
    const ask = (fields: object) => this.#ask('/v2/queues/queue', { test_queue_id: this.ciRun.buildId, node_uuid, batch_index, ...fields });
    let answer = await ask({ can_initialize_queue: true, attempt_connect_to_queue: true });
    if ('code' in answer) answer = await ask({ can_initialize_queue: true, attempt_connect_to_queue: false, paths: this.job.files });
    for (let files = pathsIn(answer.paths); files.length > 0; files = pathsIn(answer.paths)) {
      const failed_paths = this.#runFiles(files);
      batch_index += 1;
      answer = await ask({ can_initialize_queue: false, attempt_connect_to_queue: false, batch_id: answer.batch_id, failed_paths });
    }
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

function pathsIn(files: unknown): string[] {
  if (!Array.isArray(files)) throw new ClientError('the answer has no list');
  return files.map((file: string | { path: string }) => (typeof file === 'string' ? file : file.path));
}

/** Returns the files that a commercial client runs without a server: every n-th file in the order of names. */
function filesByName(files: readonly string[], { node_index, node_total }: { node_index: number; node_total: number }): string[] {
  return [...new Set(files)].sort().filter((_, i) => i % node_total === node_index);
}
