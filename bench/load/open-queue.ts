import { QUEUE } from '../../test/testbed/node-process.js';
import { type Answer, type Connections, expectAnswer } from './connections.js';
import { createQueueBody, FILES_IN_ANSWER, longTestPath, NODES, pullBody, ROUND, roundDigits, testFiles } from './messages.js';

let pulls = 0;

/** A queue that a load creates and pulls from, as any of its nodes. */
export class OpenQueue {
  readonly #parts: string[][];

  constructor(
    readonly name: string,
    readonly connections: Connections,
  ) {
    this.#parts = Array.from({ length: NODES }, (_, node) => JSON.stringify(pullBody('load', name, node)).split(ROUND));
  }

  async create(fileCount: number): Promise<void> {
    const body = JSON.stringify({ ...createQueueBody('load', this.name), ...testFiles(fileCount, longTestPath) });
    expectAnswer(await this.connections.post(QUEUE, body), 200, FILES_IN_ANSWER);
  }

  /** Sends the next pull of the node, with a new batch_uuid. Resolves with the answer. */
  async pull(node: number): Promise<Answer & { isEnd: boolean }> {
    const answer = await this.connections.post(QUEUE, this.#parts[node]!.join(roundDigits(pulls++)));
    expectAnswer(answer, 200, '"test_files":[');
    return { ...answer, isEnd: !answer.text.includes(FILES_IN_ANSWER) };
  }
}
