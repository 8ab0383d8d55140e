import { collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

/** What is looked at when metrics are asked for. Bytes, counts. */
export interface Sources {
  jobsWaiting(): number;
  queuesInMemory(): { queues: number; bytes: number; testFilesLeft: number };
  heldBytes(): number;
  storeBytes(): number;
  diskFreeBytes(): number;
  journalTurns(): number;
  /** Milliseconds since 1970; null: not yet. */
  sweptAt(): number | null;
}

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** What an operator wants to know at a glance and over time, as Prometheus reads it. */
export class Metrics {
  readonly #registry = new Registry();
  readonly #requests: Histogram;
  /** Looking labels up takes longer than counting. */
  readonly #children = new Map<string, { observe(seconds: number): void }>();

  /** Looked through once for all that is told of them. */
  #queues = { queues: 0, bytes: 0, testFilesLeft: 0 };

  constructor(readonly sources: Sources) {
    const { PROMETHEUS_CONTENT_TYPE } = Registry;
    this.#registry.setContentType(PROMETHEUS_CONTENT_TYPE);
    collectDefaultMetrics({ register: this.#registry });
    this.#requests = new Histogram({
      name: 'ballast_request_duration_seconds',
      help: 'From the head of a request to the last byte of its answer handed to the system.',
      labelNames: ['endpoint', 'status'],
      buckets: SECONDS,
      registers: [this.#registry],
    });
    this.#gauge('ballast_jobs_waiting', 'Large test suites that wait for a packing thread.', sources.jobsWaiting);
    this.#gauge('ballast_queues_in_memory', 'Queues that are kept in memory.', () => this.#queues.queues);
    this.#gauge('ballast_queues_in_memory_bytes', 'What they are counted to take.', () => this.#queues.bytes);
    this.#gauge('ballast_queues_in_memory_test_files_left', 'Test files of theirs that no node has.', () => this.#queues.testFilesLeft);
    this.#gauge('ballast_held_bytes', 'Bodies and large answers of requests under way.', sources.heldBytes);
    this.#gauge('ballast_store_bytes', 'Size of the file of the store.', sources.storeBytes);
    this.#gauge('ballast_disk_free_bytes', 'What is left on its disk.', sources.diskFreeBytes);
    this.#gauge('ballast_journal_turns', 'Turns of what queues handed out that wait for a checkpoint.', sources.journalTurns);
    this.#gauge('ballast_swept_timestamp_seconds', 'When the last expiry sweep ended; 0: none has.', () => (sources.sweptAt() ?? 0) / 1000);
  }

  /** Counts a request. */
  observe(endpoint: string, status: number, seconds: number): void {
    const key = `${endpoint} ${status}`;
    let child = this.#children.get(key);
    if (!child) this.#children.set(key, (child = this.#requests.labels(endpoint, String(status))));
    child.observe(seconds);
  }

  /** In the text format of Prometheus. */
  async text(): Promise<{ contentType: string; body: string }> {
    this.#queues = this.sources.queuesInMemory();
    return { contentType: this.#registry.contentType, body: await this.#registry.metrics() };
  }

  #gauge(name: string, help: string, value: () => number): void {
    new Gauge({
      name,
      help,
      registers: [this.#registry],
      collect() {
        this.set(value());
      },
    });
  }
}
