import { SPLIT } from '../../../test/testbed/node-process.js';
import type { Build, Post } from '../builds.js';
import { invariant } from '../invariants.js';

interface Entry {
  path: string;
  body: Parameters<Post>[1];
  sentAt: number;
  answer: { at: number; reply: unknown } | null;
}

/** The requests of nodes and their answers, with times: milliseconds since 1970, with fractions. */
export class NodeLog {
  readonly #byNode = new Map<string, Entry[]>();
  readonly #begins = new Map<string, number>();
  /** From the first request to the last answer. */
  from = Infinity;
  until = -Infinity;

  /** Wraps `send` to log each request and its answer. */
  record(send: Post): Post {
    return async (path, body) => {
      const entry: Entry = { path, body, sentAt: now(), answer: null };
      const entries = this.#byNode.get(nodeOf(body));
      if (entries) entries.push(entry);
      else this.#byNode.set(nodeOf(body), [entry]);
      if (!this.#begins.has(body.commit_hash)) this.#begins.set(body.commit_hash, entry.sentAt);
      this.from = Math.min(this.from, entry.sentAt);
      const reply: unknown = await send(path, body);
      entry.answer = { at: now(), reply };
      this.until = Math.max(this.until, entry.answer.at);
      return reply;
    };
  }

  /** Reports whether a node of the build had sent a request by that time. */
  hasBegun({ key }: Build, at: number): boolean {
    return (this.#begins.get(key.commit_hash) ?? Infinity) <= at;
  }

  /**
   * Sends the requests of nodes that resume at a time. Requests answered before that time return the logged answer, and some are sent
   * again to compare the answers. Requests in flight at that time are retried. All others are sent.
   */
  resume(at: number, send: (path: string, body: object, attempt: number) => Promise<unknown>, isRepeated: () => boolean): Post {
    const positions = new Map<string, number>();
    return async (path, body) => {
      const node = nodeOf(body);
      const position = positions.get(node) ?? 0;
      positions.set(node, position + 1);
      const entry = this.#byNode.get(node)?.[position];
      if (!entry || entry.sentAt > at) return send(path, body, 0);
      invariant(entry.path === path, `node ${node} resumed with ${path} instead of ${entry.path}`);
      if (!entry.answer || entry.answer.at > at) return send(path, entry.body, 1);
      const { reply } = entry.answer;
      if ((path === SPLIT || (entry.body.batch_uuid ?? entry.body.node_uuid) !== undefined) && isRepeated()) {
        const repeated = await send(path, entry.body, 1);
        invariant(JSON.stringify(repeated) === JSON.stringify(reply), `${path} answered a repeated request of node ${node} differently`);
      }
      return reply;
    };
  }
}

const nodeOf = ({ commit_hash, node_index }: { commit_hash: string; node_index: number }) => `${node_index} of ${commit_hash}`;
const now = () => performance.timeOrigin + performance.now();
