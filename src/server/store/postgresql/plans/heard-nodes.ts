import type { OpenQueue } from '../../../engine/ports/queues.js';
import type { LeasePolicy } from '../../../engine/queue/leases.js';
import type { Database } from '../connection/database.js';
import { NOW } from '../connection/sql.js';

/** A heartbeat that one process got counts at the others after this time at most. */
const PUBLISH_MILLISECONDS = 10_000;

/** The nodes of a queue, with the milliseconds since each was heard of. */
type Ages = [node: number, milliseconds: number][];

/** When each process of a database last heard of nodes that send heartbeats. Each process publishes its own in one row. */
export class HeardNodes {
  readonly #timer: NodeJS.Timeout;
  #publishing = Promise.resolve();

  /** @param queues the queues that this process has in memory */
  constructor(
    readonly database: Database,
    readonly queues: () => Iterable<Pick<OpenQueue, 'id' | 'queue'>>,
    readonly lease: LeasePolicy,
  ) {
    this.#timer = setInterval(() => {
      // What is not published now is published the next time.
      this.#publishing = this.publish().catch(() => {});
    }, PUBLISH_MILLISECONDS).unref();
  }

  async publish(): Promise<void> {
    const now = this.lease.uptime();
    const heard: Record<string, Ages> = {};
    for (const { id, queue } of this.queues()) {
      const nodes = queue.heardSince(now - this.lease.silenceMilliseconds);
      if (nodes.length > 0) heard[id] = nodes.map(([node, at]) => [node, Math.round(now - at)]);
    }
    if (Object.keys(heard).length === 0) return;
    await this.database.change(
      `insert into heard_nodes (process, at, nodes) values ($1, ${NOW}, $2)
      on conflict (process) do update set at = excluded.at, nodes = excluded.nodes`,
      [this.database.process, JSON.stringify(heard)],
    );
  }

  /** The uptimes at which other processes heard of the nodes of a queue. */
  async elsewhere(queue: string): Promise<[node: number, at: number][]> {
    const { uptime, silenceMilliseconds } = this.lease;
    const rows = await this.database.read<{ age: number; nodes: string | null }>(
      `select ${NOW} - at as age, nodes::json ->> $1 as nodes from heard_nodes where process <> $2 and at > ${NOW} - $3::int8`,
      [queue, this.database.process, silenceMilliseconds],
    );
    const now = uptime();
    return rows.flatMap(({ age, nodes }) =>
      (JSON.parse(nodes ?? '[]') as Ages).map(([node, milliseconds]) => [node, now - age - milliseconds] as [number, number]),
    );
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#publishing;
  }
}
