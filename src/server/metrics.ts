import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import { unavailableReasons } from '../http/api-error.js';
import { type Durations, Histogram } from './histogram.js';

/** Values that are read when metrics are requested. */
export interface MetricSources {
  version: string;
  httpServer: string;
  connections(): number;
  requestsInFlight(): number;
  reservedBytes(): number;
  fullProjects(): number;
  jobs(): { waiting: number; running: number; threads: number };
  /** Large suites that are cached, their bytes, and how often the list of one was sent again. */
  suites(): { suites: number; bytes: number; hits: number };
  queues(): { inMemory: number; open: number; bytes: number; testFilesLeft: number };
  store(): { bytes: number; diskFreeBytes: number; journalTurns: number; records: Readonly<Record<string, number>> };
  /** End (in milliseconds since 1970, null before the first) and duration of the last sweep, and all deleted records, by kind. */
  sweeps(): { endedAt: number | null; seconds: number; deleted: Readonly<Record<string, number>> };
  /** Summaries of builds that were written since the start, and builds that wait for theirs. */
  summaries(): { written: number; waiting: number };
  /** In milliseconds since 1970; null without a certificate. */
  certificateExpiresAt(): number | null;
}

/** Default metrics that are removed, because they are always empty and their names break the conventions of Prometheus. */
const REMOVED_DEFAULTS = ['handles', 'requests', 'resources'].flatMap(kind => [`nodejs_active_${kind}`, `nodejs_active_${kind}_total`]);

/** Reads the values of one metric: a single one, one per label, or null for none. */
type ReadValues = () => number | Readonly<Record<string, number>> | null;

/** The metrics that Prometheus reads. They contain no name of a project, build or person. */
export class Metrics {
  readonly #registry = new Registry();
  readonly #requests: Histogram;
  readonly #unavailable: Counter;
  readonly #commits: Durations;
  readonly #jobs: Histogram;
  readonly #jobWaits: Durations;
  /** The series of #requests, by endpoint and status. */
  readonly #requestsOf = new Map<string, Map<number, Durations>>();
  /** The series of #jobs. */
  readonly #jobsOf = new Map<string, Durations>();
  #batches = 0;
  #testFiles = 0;
  #reassignedBatches = 0;
  /** How often metrics were requested. */
  #collections = 0;

  constructor() {
    const { PROMETHEUS_CONTENT_TYPE } = Registry;
    this.#registry.setContentType(PROMETHEUS_CONTENT_TYPE);
    collectDefaultMetrics({ register: this.#registry });
    for (const name of REMOVED_DEFAULTS) this.#registry.removeSingleMetric(name);
    this.#requests = this.#histogram(
      'ballast_request_duration_seconds',
      'Time from receiving the head of a request to passing the last byte of its answer to the system. Status 499: the client left first.',
    );
    this.#commits = this.#histogram(
      'ballast_commit_duration_seconds',
      'Time from a change to its flush to disk, which its answer waits for.',
    ).with({});
    this.#jobWaits = this.#histogram('ballast_job_wait_seconds', 'Time that large test suites waited for a packing thread.').with({});
    this.#jobs = this.#histogram('ballast_job_duration_seconds', 'Time that large test suites took in a packing thread.');
    this.#unavailable = new Counter({
      name: 'ballast_unavailable_total',
      help: 'Requests answered with status 503, by reason.',
      labelNames: ['reason'],
      registers: [this.#registry],
    });
    for (const reason of unavailableReasons) this.#unavailable.inc({ reason }, 0);
    this.#counter('ballast_batches_total', 'Batches that queues handed out, without repeated ones.', () => this.#batches);
    this.#counter('ballast_batch_test_files_total', 'Test files in the batches that queues handed out.', () => this.#testFiles);
    this.#counter(
      'ballast_lost_batches_total',
      'Batches reassigned to other nodes because their node was silent for too long or restarted.',
      () => this.#reassignedBatches,
    );
  }

  /** @param unavailable the reason of a 503 */
  observeRequest(endpoint: string, status: number, seconds: number, unavailable: string | null): void {
    let byStatus = this.#requestsOf.get(endpoint);
    if (!byStatus) this.#requestsOf.set(endpoint, (byStatus = new Map()));
    let durations = byStatus.get(status);
    if (!durations) byStatus.set(status, (durations = this.#requests.with({ endpoint, status: String(status) })));
    durations.observe(seconds);
    if (unavailable !== null) this.#unavailable.inc({ reason: unavailable });
  }

  observeCommit(seconds: number): void {
    this.#commits.observe(seconds);
  }

  observeJob(job: string, waitedSeconds: number, seconds: number): void {
    this.#jobWaits.observe(waitedSeconds);
    let durations = this.#jobsOf.get(job);
    if (!durations) this.#jobsOf.set(job, (durations = this.#jobs.with({ job })));
    durations.observe(seconds);
  }

  countBatch(testFiles: number): void {
    this.#batches += 1;
    this.#testFiles += testFiles;
  }

  countReassignedBatch(): void {
    this.#reassignedBatches += 1;
  }

  /** Adds the metrics that are read from their sources on each request for metrics. */
  addSources(sources: MetricSources): void {
    const { connections, requestsInFlight, reservedBytes, certificateExpiresAt } = sources;
    const jobs = this.#oncePerCollection(sources.jobs);
    const queues = this.#oncePerCollection(sources.queues);
    const store = this.#oncePerCollection(sources.store);
    const sweeps = this.#oncePerCollection(sources.sweeps);
    this.#gauge('ballast_build_info', 'Version of this server.', () => ({ [sources.version]: 1 }), 'version');
    this.#gauge('ballast_http_server_info', 'HTTP server: uwebsockets or node.', () => ({ [sources.httpServer]: 1 }), 'name');
    this.#gauge('ballast_connections', 'Open connections.', connections);
    this.#gauge('ballast_requests_in_flight', 'Requests that are being received or answered.', requestsInFlight);
    this.#gauge('ballast_held_bytes', 'Memory reserved for bodies and large answers of requests in flight.', reservedBytes);
    this.#gauge(
      'ballast_full_projects',
      'Projects that have stored as many bytes today as BALLAST_DAILY_BYTES_PER_PROJECT allows.',
      sources.fullProjects,
    );
    this.#gauge('ballast_jobs_waiting', 'Large test suites that wait for a packing thread.', () => jobs().waiting);
    this.#gauge('ballast_jobs_running', 'Large test suites in packing threads.', () => jobs().running);
    this.#gauge('ballast_job_threads', 'Packing threads.', () => jobs().threads);
    this.#gauge('ballast_cached_suites', 'Large suites that are kept in memory.', () => sources.suites().suites);
    this.#gauge('ballast_cached_suites_bytes', 'Size of the suites that are kept in memory.', () => sources.suites().bytes);
    this.#counter(
      'ballast_cached_suite_hits_total',
      'Lists of large suites that were sent again while they were kept.',
      () => sources.suites().hits,
    );
    this.#gauge('ballast_queues_in_memory', 'Queues in memory.', () => queues().inMemory);
    this.#gauge('ballast_queues_in_memory_bytes', 'Estimated size of the queues in memory.', () => queues().bytes);
    this.#gauge('ballast_queues_open', 'Queues in memory with test files that are not handed out.', () => queues().open);
    this.#gauge('ballast_queue_test_files_left', 'Test files of queues in memory that are not handed out.', () => queues().testFilesLeft);
    this.#gauge('ballast_store_bytes', 'Size of the store file.', () => store().bytes);
    this.#gauge('ballast_store_records', 'Records in the store, by kind.', () => store().records, 'kind');
    this.#gauge('ballast_disk_free_bytes', 'Free space of the disk of the store.', () => store().diskFreeBytes);
    this.#gauge('ballast_journal_turns', 'Journal entries that wait for a checkpoint.', () => store().journalTurns);
    this.#gauge(
      'ballast_sweep_last_success_timestamp_seconds',
      'End of the last expiry sweep; 0 before the first since the start.',
      () => (sweeps().endedAt ?? 0) / 1000,
    );
    this.#gauge('ballast_sweep_duration_seconds', 'Duration of the last expiry sweep.', () => sweeps().seconds);
    this.#counter('ballast_expired_records_total', 'Records that expiry sweeps deleted, by kind.', () => sweeps().deleted, 'kind');
    this.#counter('ballast_summaries_total', 'Summaries of builds that were written.', () => sources.summaries().written);
    this.#gauge('ballast_summaries_waiting', 'Builds that wait for their summary.', () => sources.summaries().waiting);
    this.#gauge('ballast_tls_certificate_expiry_timestamp_seconds', 'When the TLS certificate expires.', () => {
      const expiresAt = certificateExpiresAt();
      return expiresAt === null ? null : expiresAt / 1000;
    });
  }

  /** Returns all metrics in the text format of Prometheus. */
  async text(): Promise<{ contentType: string; body: string }> {
    this.#collections += 1;
    return { contentType: this.#registry.contentType, body: await this.#registry.metrics() };
  }

  /** Reads a source once for all metrics that use it. */
  #oncePerCollection<T>(read: () => T): () => T {
    let readIn = 0;
    let value: T;
    return () => {
      if (readIn !== this.#collections) value = read();
      readIn = this.#collections;
      return value;
    };
  }

  #histogram(name: string, help: string): Histogram {
    return new Histogram(this.#registry, name, help);
  }

  #gauge(name: string, help: string, read: ReadValues, label?: string): void {
    new Gauge({
      ...this.#options(name, help, label),
      collect() {
        this.reset();
        forEachValue(read(), label, (labels, value) => this.set(labels, value));
      },
    });
  }

  #counter(name: string, help: string, read: ReadValues, label?: string): void {
    new Counter({
      ...this.#options(name, help, label),
      collect() {
        this.reset();
        forEachValue(read(), label, (labels, value) => this.inc(labels, value));
      },
    });
  }

  #options(name: string, help: string, label: string | undefined) {
    return { name, help, labelNames: label === undefined ? [] : [label], registers: [this.#registry] };
  }
}

function forEachValue(
  values: ReturnType<ReadValues>,
  label: string | undefined,
  callback: (labels: Record<string, string>, value: number) => void,
): void {
  if (values === null) return;
  if (typeof values === 'number') callback({}, values);
  else for (const [name, value] of Object.entries(values)) callback({ [label!]: name }, value);
}
