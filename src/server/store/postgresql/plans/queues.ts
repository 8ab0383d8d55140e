import { randomUUID } from 'node:crypto';
import { type BuildKey, buildDigest, type QueueKey } from '../../../engine/keys.js';
import {
  isBatch,
  type NewQueue,
  type QueueInfo,
  type QueueLoad,
  type Queues,
  type ReadFacts,
  type Verb,
} from '../../../engine/ports/queues.js';
import type { Millis } from '../../../engine/ports/store.js';
import { type Batch, copyOf } from '../../../engine/queue/batch.js';
import { type BatchSums, keep } from '../../../planning/batching/batch-cost.js';
import type { Mode } from '../../../planning/estimating/estimate.js';
import { batchesIn, decodeChanges, encodeChange, encodeChanges } from '../../codecs/queue-changes.js';
import type { QueueOptions } from '../../queue-cache.js';
import { CI_RUN_COLUMNS, ciRunValues } from '../ci-runs.js';
import type { Database } from '../connection/database.js';
import { fromJson } from '../json.js';
import { HeardNodes } from './heard-nodes.js';
import { type Pieces, piecesOf } from './pieces.js';
import { QueueLog } from './queue-log.js';
import { journalOf, QUEUE, type QueueRow, queueRow, toQueueInfo } from './queue-rows.js';

/** The queues of a database, which any number of processes change: see QueueLog. */
export class PostgresqlQueues implements Queues {
  readonly #log: QueueLog;
  /** Null: no lease of a node that sends heartbeats ends. */
  readonly #heard: HeardNodes | null;
  /** The last changes of what projects learned, by project and mode. */
  readonly #learning = new Map<string, Promise<void>>();

  constructor(
    readonly database: Database,
    readonly pieces: Pieces,
    options: QueueOptions & { cacheBytes: number },
  ) {
    const { lease } = options;
    this.#log = new QueueLog(database, pieces, options);
    this.#heard = lease && lease.silenceMilliseconds < Infinity ? new HeardNodes(database, () => this.#log.open, lease) : null;
  }

  async find({ digest }: QueueKey): Promise<QueueInfo | null> {
    const row = await queueRow(this.database, digest);
    return row && toQueueInfo(row);
  }

  async newest(project: number, build: BuildKey): Promise<QueueInfo | null> {
    const row = await this.#newest(project, build);
    return row && toQueueInfo(row);
  }

  async create(
    key: QueueKey,
    { list, files, weights, basis, cuts, first, guessed, learned, forecast }: NewQueue,
    at: Millis,
  ): Promise<boolean> {
    const id = randomUUID();
    const [parts, bytes] = piecesOf({ files, basis, weights, cuts, first });
    const { rows } = await this.database.change<{ id: string }>(
      `with known as (
        select id from queues where id = $2
      ), q as (
        insert into queues (key, name, id, project, build, node_total, guessed, learned, created_at, runs_before, used_at, list, forecast)
        select $1, $1, $2, $3, $6, $8, $10, $11, $9, coalesce((select recorded from builds where key = $6), 0), $9, $12, $13
        on conflict (key) do nothing returning id, runs_before
      ), p as (
        insert into pieces (owner, part, bytes) select q.id, v.part, v.bytes from q, unnest($14::int4[], $15::bytea[]) as v (part, bytes)
      ), j as (
        insert into journal (queue, position, attempt, changes) select id, 0, 0, $16::bytea from q
      ), c as (
        insert into ci_runs (${CI_RUN_COLUMNS}) select id, $3, 'queue', id, $4, $5, $6, $7, $8, $9, runs_before from q
      )
      select id from q union all select id from known`,
      [
        ...[key.digest, id, ...ciRunValues(key), at, guessed, learned && JSON.stringify(learned), JSON.stringify(list)],
        ...[JSON.stringify(forecast), parts, bytes, encodeChanges([])],
      ],
    );
    if (rows.length === 0) return false;
    this.pieces.keep(id, files);
    return true;
  }

  async repeat(key: QueueKey, at: Millis): Promise<boolean> {
    const original = await this.#newest(key.project, key.build);
    if (!original) return false;
    const batches = copyOf(await this.batches(original.id)).map(encodeChange);
    await this.database.change(
      `with o as (
        select * from queues where id = $10
      ), q as (
        insert into queues (key, name, id, project, build, node_total, guessed, learned, copied_at, copied_runs_before, created_at, runs_before, used_at, list, forecast)
        select $1, o.name, $2, $3, $6, $8, guessed, learned, $9, coalesce((select recorded from builds where key = $6), 0), created_at, runs_before, $9, list, forecast
        from o on conflict (key) do nothing returning id, copied_runs_before
      ), p as (
        insert into pieces (owner, part, bytes) select q.id, pieces.part, pieces.bytes from q, pieces where owner = $10
      ), j as (
        insert into journal (queue, position, attempt, changes) select id, 0, 0, $11::bytea from q
      )
      insert into ci_runs (${CI_RUN_COLUMNS}) select id, $3, 'queue', id, $4, $5, $6, $7, $8, $9, copied_runs_before from q`,
      [key.digest, randomUUID(), ...ciRunValues(key), at, original.id, encodeChanges(batches)],
    );
    return (await this.find(key)) !== null;
  }

  update<Facts, Value>({ digest }: QueueKey, facts: ReadFacts<Facts>, verb: Verb<Facts, Value>, at: Millis) {
    return this.#log.update(digest, facts, verb, at);
  }

  heardElsewhere(queue: string): Promise<[node: number, at: number][]> | null {
    return this.#heard?.elsewhere(queue) ?? null;
  }

  async noteOtherList({ id }: QueueInfo, difference: string): Promise<void> {
    await this.database.change('update queues set other_list = $2 where id = $1 and other_list is null', [id, JSON.stringify(difference)]);
  }

  async batches(queue: string): Promise<Batch[]> {
    return batchesIn((await journalOf(this.database, queue)).map(({ changes }) => changes));
  }

  async copiedBatches(queue: string): Promise<Batch[]> {
    const [row] = await this.database.read<{ changes: Buffer }>('select changes from journal where queue = $1 and position = 0', [queue]);
    return row ? decodeChanges(row.changes).filter(isBatch) : [];
  }

  async revision(queue: string): Promise<number> {
    const [row] = await this.database.read<{ position: number }>('select max(position) as position from journal where queue = $1', [queue]);
    return row!.position ?? 0;
  }

  async learned(project: number, mode: Mode): Promise<BatchSums | null> {
    await this.#learning.get(`${project} ${mode}`);
    return this.#learnedIn(project, mode);
  }

  learn(project: number, mode: Mode, observed: BatchSums): Promise<void> {
    const add = async () => {
      // What another process adds at the same moment may be lost: it is a part of an average, and the next builds add to that.
      const sums = keep(await this.#learnedIn(project, mode), observed);
      await this.database.change(
        `insert into batch_costs (project, mode, sums) select id, $2, $3 from projects where id = $1 and deleted_at is null
        on conflict (project, mode) do update set sums = excluded.sums`,
        [project, mode, JSON.stringify(sums)],
      );
    };
    const key = `${project} ${mode}`;
    const learning = (this.#learning.get(key) ?? Promise.resolve())
      .then(add)
      .catch(() => {})
      .then(() => {
        if (this.#learning.get(key) === learning) this.#learning.delete(key);
      });
    this.#learning.set(key, learning);
    return learning;
  }

  load(): QueueLoad {
    return this.#log.load();
  }

  /** Resolves when what projects learned is saved. */
  async close(): Promise<void> {
    await Promise.all([...this.#learning.values(), this.#heard?.close()]);
  }

  async #learnedIn(project: number, mode: Mode): Promise<BatchSums | null> {
    const [row] = await this.database.read<{ sums: string }>('select sums from batch_costs where project = $1 and mode = $2', [
      project,
      mode,
    ]);
    return fromJson<BatchSums>(row?.sums);
  }

  async #newest(project: number, build: BuildKey): Promise<QueueRow | null> {
    const [row] = await this.database.read<QueueRow>(`select ${QUEUE} from queues where build = $1 order by number desc limit 1`, [
      buildDigest(project, build),
    ]);
    return row ?? null;
  }
}
