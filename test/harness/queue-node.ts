import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import type { Client, Reply } from './client.js';
import { buildKey, type Fields, testQueueMessage } from './messages.js';

/** A process of a client that reports the batches that it has run. */
export class QueueNode {
  readonly node_uuid = randomUUID();
  /** Those of its last batch. */
  paths: string[] = [];
  #index = 0;
  #batch: number | null = null;

  constructor(
    readonly client: Client,
    readonly node_index: number,
    readonly build: Fields = {},
  ) {}

  send(more: Fields): Promise<Reply> {
    const { client, node_index, node_uuid } = this;
    return client.post('/v2/queues/queue', testQueueMessage({ node_index, node_uuid, ...this.build, ...more }));
  }

  connect(more: Fields = {}): Promise<Reply> {
    return this.send({ can_initialize_queue: true, attempt_connect_to_queue: true, ...more });
  }

  initialise(paths: readonly string[], more: Fields = {}): Promise<Reply> {
    return this.connect({ attempt_connect_to_queue: false, paths, ...more });
  }

  /** Starts as clients do, which send their files only if there is no queue. */
  async start(paths: readonly string[]): Promise<string[]> {
    let reply = await this.connect();
    if (reply.json.code === 'ATTEMPT_CONNECT_TO_QUEUE_FAILED') reply = await this.initialise(paths);
    return this.#take(reply);
  }

  /** Reports the last batch as run, and returns the next one. */
  async next(failed_paths: readonly string[] = [], more: Fields = {}): Promise<string[]> {
    this.#index += 1;
    return this.#take(await this.pull(failed_paths, more));
  }

  /** Sends the request for the next batch, or repeats it. */
  pull(failed_paths: readonly string[] = [], more: Fields = {}): Promise<Reply> {
    return this.send({ batch_index: this.#index, batch_id: this.#batch, failed_paths, ...more });
  }

  async pullAll(): Promise<string[]> {
    const paths: string[] = [];
    for (let batch = await this.next(); batch.length > 0; batch = await this.next()) paths.push(...batch);
    return paths;
  }

  /** Says that the process was cancelled, and what did not pass of its batch if it is given. Returns whether the server noted that. */
  async cancel(failed_paths?: readonly string[]): Promise<boolean> {
    const reply = await this.client.post('/v2/queues/cancel', {
      ...this.process,
      ...(failed_paths && { batch_id: this.#batch, failed_paths }),
    });
    expect(reply.status).toBe(200);
    return reply.json.is_noted;
  }

  heartbeat(more: Fields = {}): Promise<Reply> {
    return this.client.post('/v2/queues/heartbeat', { ...this.process, ...more });
  }

  /** The parameters that name the process. */
  get process(): Fields {
    const { node_index, node_uuid } = this;
    const { node_total } = { ...buildKey, ...this.build };
    return { ...buildKey, node_total, node_index, node_uuid, test_queue_id: '100' };
  }

  #take(reply: Reply): string[] {
    expect(reply).toMatchObject({ status: 200, json: { paths: expect.any(Array) as unknown } });
    this.#batch = reply.json.batch_id;
    this.paths = reply.json.paths;
    expect(this.#batch === null).toBe(this.paths.length === 0);
    return this.paths;
  }
}
