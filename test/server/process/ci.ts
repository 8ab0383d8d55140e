import { randomUUID } from 'node:crypto';
import type { Reply } from '../../harness/client.js';
import { type ServerProcess, spawnServer } from '../../harness/process.js';
import { QUEUE, startProcess } from '../../testbed/node-process.js';

// The nodes run nothing: a queue would take the machine's pauses for the cost of a pull, and hand out all its files in a few batches.
const STOPPED_CLOCK = { NODE_OPTIONS: '--import=data:text/javascript,Date.now=()=>1800000000000' };

/** A server that is stopped and started again on the same folder, whose clock stands still, and nodes that try until it answers. */
export class Ci {
  #server: Promise<ServerProcess>;
  #pulls = 0;
  #waiting: { pulls: number; go: () => void }[] = [];

  constructor(readonly dataDir: string) {
    this.#server = this.#spawn();
  }

  #spawn(): Promise<ServerProcess> {
    return spawnServer({ dataDir: this.dataDir, env: STOPPED_CLOCK });
  }

  get server(): Promise<ServerProcess> {
    return this.#server;
  }

  /** Stops the server, whatever it is doing, and starts it again. Returns its exit code. */
  async restart(signal: 'SIGKILL' | 'SIGTERM'): Promise<number | null> {
    const old = await this.#server;
    const stopped = old.stop(signal);
    // From now on nodes wait for the next one.
    this.#server = stopped.then(() => this.#spawn());
    await this.#server;
    return stopped;
  }

  /** Resolves when the nodes have got so many answers of queues from now on. */
  pulls(more: number): Promise<void> {
    return new Promise(go => this.#waiting.push({ pulls: this.#pulls + more, go }));
  }

  /** Posts until there is an answer; every further attempt has the same body. */
  async post(path: string, body: object, headers: (attempt: number) => Record<string, string> = () => ({})): Promise<Reply> {
    for (let attempt = 0; attempt < 50; attempt++) {
      const server = await this.#server;
      try {
        const reply = await server.post(path, body, headers(attempt));
        if (path === QUEUE) this.#countPull();
        return reply;
      } catch (error) {
        // fetch: the connection failed. Try again with the server that is in force by then.
        if (!(error instanceof TypeError)) throw error;
      }
    }
    throw new Error(`no answer to ${path} in 50 attempts`);
  }

  #countPull(): void {
    this.#pulls += 1;
    this.#waiting = this.#waiting.filter(({ pulls, go }) => {
      if (pulls > this.#pulls) return true;
      go();
      return false;
    });
  }
}

/** Pulls as a node does, from its first request to its end of the queue; the paths of each batch. */
export async function runNode(ci: Ci, fields: object, paths: readonly string[], uuids: boolean): Promise<string[][]> {
  const node = startProcess({ mode: 'queue', fields, paths, batchUuid: uuids ? randomUUID : null }, async (path, body) => {
    const { status, text, json } = await ci.post(path, body);
    if (status !== 200) throw new Error(`a pull was answered with ${status}: ${text}`);
    return json;
  });
  const batches: string[][] = [];
  for (;;) {
    const batch = (await node.next()).paths;
    if (batch.length === 0) return batches;
    batches.push(batch);
  }
}
