import { type Answer, type Connections, check } from './connections.js';
import { creation, deepPath, digits, FILES_IN_ANSWER, files, NODES, pull, QUEUE, ROUND } from './messages.js';

let pulls = 0;

/** A queue that a load creates and pulls from, as any of its nodes. */
export class OpenQueue {
  readonly #parts: string[][];

  constructor(
    readonly name: string,
    readonly connections: Connections,
  ) {
    this.#parts = Array.from({ length: NODES }, (_, node) => JSON.stringify(pull('load', name, node)).split(ROUND));
  }

  async create(fileCount: number): Promise<void> {
    const body = JSON.stringify({ ...creation('load', this.name), ...files(fileCount, deepPath) });
    check(await this.connections.post(QUEUE, body), 200, FILES_IN_ANSWER);
  }

  /** Sends the next pull of the node, with a new batch_uuid. Resolves with the answer. */
  async pull(node: number): Promise<Answer & { isEnd: boolean }> {
    const answer = await this.connections.post(QUEUE, this.#parts[node]!.join(digits(pulls++)));
    check(answer, 200, '"test_files":[');
    return { ...answer, isEnd: !answer.text.includes(FILES_IN_ANSWER) };
  }
}
