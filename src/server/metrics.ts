import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { unavailableReasons } from '../api-error.js';

/** What is looked at when metrics are asked for. */
export interface MetricSources {
  version: string;
  httpServer: string;
  connections(): number;
  requestsInFlight(): number;
  reservedBytes(): number;
  jobs(): { waiting: number; running: number; threads: number };
  queues(): { inMemory: number; open: number; bytes: number; testFilesLeft: number };
  store(): { bytes: number; diskFreeBytes: number; journalTurns: number; records: Readonly<Record<string, number>> };
  /** The last sweep that ended, null: none has (milliseconds since 1970); and what all of them deleted, by kind. */
  sweeps(): { endedAt: number | null; seconds: number; deleted: Readonly<Record<string, number>> };
  /** When the certificate ends, in milliseconds since 1970; null: there is none. */
  certificateExpiresAt(): number | null;
}

const SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
/** Of what Node's library counts it sees nothing here, and misnames it. */
const MISNAMED = ['handles', 'requests', 'resources'].flatMap(what => [`nodejs_active_${what}`, `nodejs_active_${what}_total`]);

/** Tells the values of one metric, by label or a single one. */
type Read = () => number | Readonly<Record<string, number>> | null;

/** What an operator wants to know at a glance and over time, as Prometheus reads it. No name of a project, build or person is in it. */
export class Metrics {
  readonly #registry = new Registry();
  readonly #requests: Histogram;
  readonly #unavailable: Counter;
  readonly #commits: Histogram;
  readonly #jobs: Histogram;
  readonly #jobWaits: Histogram;
  /** Looking labels up takes longer than counting. */
  readonly #children = new Map<string, { observe(seconds: number): void }>();
  #batches = 0;
  #testFiles = 0;
  #lostBatches = 0;
  /** How often metrics were asked for. */
  #round = 0;

  constructor() {
    const { PROMETHEUS_CONTENT_TYPE } = Registry;
    this.#registry.setContentType(PROMETHEUS_CONTENT_TYPE);
    collectDefaultMetrics({ register: this.#registry });
    for (const name of MISNAMED) this.#registry.removeSingleMetric(name);
    this.#requests = this.#histogram(
      'ballast_request_duration_seconds',
      'From the head of a request to the last byte of its answer handed to the system; status 499: the client left.',
      ['endpoint', 'status'],
    );
    this.#commits = this.#histogram('ballast_commit_duration_seconds', 'From a change to its flush to disk, which its answer waits for.');
    this.#jobWaits = this.#histogram('ballast_job_wait_seconds', 'What large test suites waited for a packing thread.');
    this.#jobs = this.#histogram('ballast_job_duration_seconds', 'What large test suites took in a packing thread.', ['job']);
    this.#unavailable = new Counter({
      name: 'ballast_unavailable_total',
      help: 'Requests that were answered with 503, by reason.',
      labelNames: ['reason'],
      registers: [this.#registry],
    });
    for (const reason of unavailableReasons) this.#unavailable.inc({ reason }, 0);
    this.#counter('ballast_batches_total', 'Batches that queues handed out, repeated ones not counted.', () => this.#batches);
    this.#counter('ballast_batch_test_files_total', 'Test files in these batches.', () => this.#testFiles);
    this.#counter(
      'ballast_lost_batches_total',
      'Batches that go to other nodes, because theirs was silent for too long or began anew.',
      () => this.#lostBatches,
    );
  }

  /** Counts a request. @param unavailable why it was answered with 503 */
  observeRequest(endpoint: string, status: number, seconds: number, unavailable: string | null): void {
    const key = `${endpoint} ${status}`;
    let child = this.#children.get(key);
    if (!child) this.#children.set(key, (child = this.#requests.labels(endpoint, String(status))));
    child.observe(seconds);
    if (unavailable !== null) this.#unavailable.inc({ reason: unavailable });
  }

  observeCommit(seconds: number): void {
    this.#commits.observe(seconds);
  }

  observeJob(job: string, waitedSeconds: number, seconds: number): void {
    this.#jobWaits.observe(waitedSeconds);
    this.#jobs.observe({ job }, seconds);
  }

  countBatch(testFiles: number): void {
    this.#batches += 1;
    this.#testFiles += testFiles;
  }

  countReassignedBatch(): void {
    this.#lostBatches += 1;
  }

  /** Looks at these whenever metrics are asked for. */
  addSources(sources: MetricSources): void {
    const { connections, requestsInFlight, reservedBytes: heldBytes, certificateExpiresAt: certificateEndsAt } = sources;
    // Looked through once for all that is told of them.
    const jobs = this.#once(sources.jobs);
    const queues = this.#once(sources.queues);
    const store = this.#once(sources.store);
    const sweeps = this.#once(sources.sweeps);
    this.#gauge('ballast_build_info', 'The version that runs.', () => ({ [sources.version]: 1 }), 'version');
    this.#gauge('ballast_http_server_info', 'The HTTP server: uwebsockets or node.', () => ({ [sources.httpServer]: 1 }), 'name');
    this.#gauge('ballast_connections', 'Open connections.', connections);
    this.#gauge('ballast_requests_in_flight', 'Requests that are being received or answered.', requestsInFlight);
    this.#gauge('ballast_held_bytes', 'Bodies and large answers of requests in flight.', heldBytes);
    this.#gauge('ballast_jobs_waiting', 'Large test suites that wait for a packing thread.', () => jobs().waiting);
    this.#gauge('ballast_jobs_running', 'Large test suites that packing threads have.', () => jobs().running);
    this.#gauge('ballast_job_threads', 'Packing threads.', () => jobs().threads);
    this.#gauge('ballast_queues_in_memory', 'Queues in memory.', () => queues().inMemory);
    this.#gauge('ballast_queues_in_memory_bytes', 'What queues in memory are counted to take.', () => queues().bytes);
    this.#gauge('ballast_queues_open', 'Queues in memory with test files that no node has.', () => queues().open);
    this.#gauge('ballast_queue_test_files_left', 'Test files of queues in memory that no node has.', () => queues().testFilesLeft);
    this.#gauge('ballast_store_bytes', 'Size of the file of the store.', () => store().bytes);
    this.#gauge('ballast_store_records', 'Records in the store, by kind.', () => store().records, 'kind');
    this.#gauge('ballast_disk_free_bytes', 'What is left on the disk of the store.', () => store().diskFreeBytes);
    this.#gauge('ballast_journal_turns', 'Turns of what queues handed out that wait for a checkpoint.', () => store().journalTurns);
    this.#gauge(
      'ballast_sweep_last_success_timestamp_seconds',
      'When the last expiry sweep ended; 0: none has since the start.',
      () => (sweeps().endedAt ?? 0) / 1000,
    );
    this.#gauge('ballast_sweep_duration_seconds', 'What the last expiry sweep took.', () => sweeps().seconds);
    this.#counter('ballast_expired_records_total', 'What expiry sweeps deleted, by kind.', () => sweeps().deleted, 'kind');
    this.#gauge('ballast_tls_certificate_expiry_timestamp_seconds', 'When the certificate ends.', () => {
      const endsAt = certificateEndsAt();
      return endsAt === null ? null : endsAt / 1000;
    });
  }

  /** In the text format of Prometheus. */
  async text(): Promise<{ contentType: string; body: string }> {
    this.#round += 1;
    return { contentType: this.#registry.contentType, body: await this.#registry.metrics() };
  }

  #once<T>(read: () => T): () => T {
    let round = 0;
    let value: T;
    return () => {
      if (round !== this.#round) value = read();
      round = this.#round;
      return value;
    };
  }

  #histogram(name: string, help: string, labelNames: string[] = []): Histogram {
    return new Histogram({ name, help, labelNames, buckets: SECONDS, registers: [this.#registry] });
  }

  #gauge(name: string, help: string, read: Read, label?: string): void {
    new Gauge({
      ...this.#named(name, help, label),
      collect() {
        this.reset();
        each(read(), label, (labels, value) => this.set(labels, value));
      },
    });
  }

  #counter(name: string, help: string, read: Read, label?: string): void {
    new Counter({
      ...this.#named(name, help, label),
      collect() {
        this.reset();
        each(read(), label, (labels, value) => this.inc(labels, value));
      },
    });
  }

  #named(name: string, help: string, label: string | undefined) {
    return { name, help, labelNames: label === undefined ? [] : [label], registers: [this.#registry] };
  }
}

function each(values: ReturnType<Read>, label: string | undefined, take: (labels: Record<string, string>, value: number) => void): void {
  if (values === null) return;
  if (typeof values === 'number') take({}, values);
  else for (const [name, value] of Object.entries(values)) take({ [label!]: name }, value);
}
