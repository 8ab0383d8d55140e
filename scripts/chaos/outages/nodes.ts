import { setTimeout as sleep } from 'node:timers/promises';
import { headers } from '../../../test/testbed/client.js';
import { CANCEL, RECORDING } from '../../../test/testbed/node-process.js';
import { pick, type Random } from '../../../test/testbed/random.js';
import type { Server } from '../../../test/testbed/server.js';
import { Violation } from '../invariants.js';

/** A request that no client would have got through. */
export class Refused extends Violation {}

/** As Ballast's own client does by default. */
export const RETRIES = 3;
const TIMEOUT_MILLISECONDS = 15_000;

interface Answer {
  status: number;
  text: string;
  retryAfter: string | null;
}

/** Sends the requests of nodes: each to one of the servers, and again to any of them as clients do. */
export class Nodes {
  /** Batches and records, and when they were acknowledged: `performance.now()`. */
  readonly acknowledged: { at: number; request: string }[] = [];
  /** Times of single requests at each server, in milliseconds. */
  readonly took: { server: Server; path: string; from: number; milliseconds: number }[] = [];
  answers = 0;
  unavailable = 0;
  repeated = 0;
  longestWait = 0;
  timeout = TIMEOUT_MILLISECONDS;
  retries = RETRIES;
  /** Sends requests to two servers, if a repetition gets the same answer. */
  isDoubling = false;
  /** Servers that a balancer has found to be down. */
  readonly down = new Set<Server>();

  constructor(
    readonly servers: readonly Server[],
    readonly random: Random,
  ) {}

  async post(path: string, body: object): Promise<any> {
    const from = performance.now();
    const { text } = this.isDoubling && isRepeatable(path, body) ? await this.#sendTwice(path, body) : await this.#sendOnce(path, body);
    this.longestWait = Math.max(this.longestWait, performance.now() - from);
    this.answers += 1;
    const reply: any = text === '' ? null : JSON.parse(text);
    if (path === RECORDING || reply?.paths?.length > 0 || reply?.test_files?.length > 0)
      this.acknowledged.push({ at: performance.now(), request: `${path} ${JSON.stringify(body).slice(0, 200)}` });
    return reply;
  }

  async get(path: string): Promise<unknown> {
    return JSON.parse((await this.#sendOnce(path)).text) as unknown;
  }

  /** The server that gets the next request. */
  deal(): Server {
    return pick(
      this.random,
      this.servers.filter(server => !this.down.has(server)),
    );
  }

  async #sendOnce(path: string, body?: object): Promise<Answer> {
    const failures: string[] = [];
    for (let attempt = 0; attempt <= this.retries; attempt++) {
      if (attempt > 0) this.repeated += 1;
      const from = performance.now();
      const server = this.deal();
      const answer = await this.#attempt(server, path, body, attempt).catch(expectLost);
      if (answer && answer.status < 500) return expectOk(path, answer);
      const reason = answer ? `${answer.status} ${answer.text.slice(0, 300)}` : 'no answer';
      failures.push(`server ${this.servers.indexOf(server)}, ${((performance.now() - from) / 1000).toFixed(1)} s: ${reason}`);
      if (answer?.status === 503) this.unavailable += 1;
      else if (answer) throw new Refused(`${path} was answered with ${reason}`);
      if (attempt < this.retries) await sleep(1000 * Number(answer?.retryAfter ?? Math.min(30, 2 ** attempt)));
    }
    throw new Refused(`a node gave up ${path} after ${failures.length} requests (${failures.join('; ')})`);
  }

  /** Sends a request to two servers, the second time as a repetition. Both must give the same answer. */
  async #sendTwice(path: string, body: object): Promise<Answer> {
    const first = this.deal();
    const second = this.servers[(this.servers.indexOf(first) + 1) % this.servers.length]!;
    this.repeated += 1;
    // A client waits before it repeats. A record that overtakes its repetition is one more record.
    const delay = path === RECORDING ? 50 + 100 * this.random() : 150 * this.random() ** 3;
    const [one, other] = await Promise.all([
      this.#attempt(first, path, body, 0),
      sleep(delay).then(() => this.#attempt(second, path, body, 1)),
    ]);
    if (one.status !== other.status || one.text !== other.text)
      throw new Violation(`${path} was answered with ${one.text.slice(0, 200)} and ${other.text.slice(0, 200)} when it was sent twice`);
    return expectOk(path, one);
  }

  async #attempt(server: Server, path: string, body: object | undefined, attempt: number): Promise<Answer> {
    const from = performance.now();
    const response = await fetch(server.url + path, {
      signal: AbortSignal.timeout(this.timeout),
      headers: { ...headers, 'X-Retry-Count': String(attempt) },
      ...(body && { method: 'POST', body: JSON.stringify(body) }),
    });
    const text = await response.text();
    this.took.push({ server, path, from, milliseconds: performance.now() - from });
    return { status: response.status, text, retryAfter: response.headers.get('Retry-After') };
  }
}

/** Reports whether a repetition gets the same answer: not that of a client without uuids, which only repeats what was lost,
 * nor one that says whether something is new. */
function isRepeatable(path: string, body: object): boolean {
  if (path === CANCEL) return false;
  return 'batch_uuid' in body || 'node_uuid' in body || path === RECORDING || 'cache_read_attempt' in body;
}

/** A connection that ended, or took too long. */
function expectLost(error: Error): null {
  if (error instanceof TypeError || error.name === 'TimeoutError') return null;
  throw error;
}

/** A queue that the database lost is named in an answer: only a build that may have lost something gets that. */
function expectOk(path: string, answer: Answer): Answer {
  if (answer.status >= 300) throw new Violation(`${path} was answered with ${answer.status}: ${answer.text.slice(0, 300)}`);
  return answer;
}
