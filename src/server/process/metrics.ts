import { Counter, collectDefaultMetrics, Gauge, type Metric, Registry } from 'prom-client';
import type { ServerState } from '../api/context.js';
import { unavailableReasons } from '../http/api-error.js';

/** Default metrics that are removed, because they are always empty and their names break the conventions of Prometheus. */
const REMOVED_DEFAULTS = ['handles', 'requests', 'resources'].flatMap(kind => [`nodejs_active_${kind}`, `nodejs_active_${kind}_total`]);

/** The value of a metric: a single one, one for each value of its label, or null or undefined for no sample. */
type Read = (state: ServerState) => number | Readonly<Record<string, number>> | null | undefined;

/** The metrics that are the state of the server, some with a label. */
const STATE_METRICS: readonly [name: string, help: string, read: Read, label?: string][] = [
  ['ballast_build_info', 'Version of this server.', ({ version }) => ({ [version]: 1 }), 'version'],
  ['ballast_http_server_info', 'HTTP server: uwebsockets or node.', ({ httpServer }) => ({ [httpServer]: 1 }), 'name'],
  ['ballast_connections', 'Open connections.', ({ connections }) => connections],
  ['ballast_requests_in_flight', 'Requests that are being received or answered.', ({ requestsInFlight }) => requestsInFlight],
  ['ballast_held_bytes', 'Memory reserved for bodies and large answers of requests in flight.', ({ reservedBytes }) => reservedBytes],
  [
    'ballast_full_projects',
    'Projects that have stored as many bytes today as BALLAST_DAILY_BYTES_PER_PROJECT allows.',
    ({ fullProjects }) => fullProjects,
  ],
  ['ballast_jobs_waiting', 'Large test suites that wait for a worker thread.', ({ jobs }) => jobs.waiting],
  ['ballast_jobs_running', 'Large test suites in worker threads.', ({ jobs }) => jobs.running],
  ['ballast_job_threads', 'Worker threads.', ({ jobs }) => jobs.threads],
  ['ballast_cached_suites', 'Large suites that are cached.', ({ suites }) => suites.suites],
  ['ballast_cached_suites_bytes', 'Size of the suites that are cached.', ({ suites }) => suites.bytes],
  ['ballast_cached_suite_hits_total', 'Lists of test files whose large suite was cached when they were sent.', ({ suites }) => suites.hits],
  ['ballast_queues_in_memory', 'Queues in memory.', ({ queues }) => queues.inMemory],
  ['ballast_queues_in_memory_bytes', 'Estimated size of the queues in memory.', ({ queues }) => queues.bytes],
  ['ballast_queues_open', 'Queues in memory with test files that are not handed out.', ({ queues }) => queues.open],
  ['ballast_queue_test_files_left', 'Test files of queues in memory that are not handed out.', ({ queues }) => queues.testFilesLeft],
  ['ballast_store_bytes', 'Size of the store file.', ({ store }) => store.bytes],
  ['ballast_store_records', 'Records in the store, by kind.', ({ store }) => store.records, 'kind'],
  [
    'ballast_database_connections',
    'Connections to the database, by state.',
    ({ store: { database } }) => database && { busy: database.busy, idle: database.open - database.busy },
    'state',
  ],
  ['ballast_database_waiting', 'Statements that wait for a connection to the database.', ({ store: { database } }) => database?.waiting],
  ['ballast_database_away_seconds_total', 'Time in which the database was not there.', ({ store: { database } }) => database?.awaySeconds],
  [
    'ballast_database_repeated_statements_total',
    'Statements that ran again because their connection was lost.',
    ({ store: { database } }) => database?.repeated,
  ],
  [
    'ballast_database_clock_offset_seconds',
    'The clock of the database minus that of this machine.',
    ({ store: { database } }) => database?.clockOffsetSeconds,
  ],
  ['ballast_disk_free_bytes', 'Free space of the disk of the store.', ({ store }) => store.diskFreeBytes],
  ['ballast_journal_turns', 'Journal records that wait for a checkpoint.', ({ store }) => store.journalRecords],
  [
    'ballast_sweep_last_success_timestamp_seconds',
    'End of the last expiry sweep; 0 before the first since the start.',
    ({ sweeps }) => (sweeps.endedAt ?? 0) / 1000,
  ],
  ['ballast_sweep_duration_seconds', 'Duration of the last expiry sweep.', ({ sweeps }) => sweeps.seconds],
  ['ballast_expired_records_total', 'Records that expiry sweeps deleted, by kind.', ({ sweeps }) => sweeps.deleted, 'kind'],
  [
    'ballast_snapshot_last_success_timestamp_seconds',
    'When the newest sound snapshot of the store was begun; 0: there is none yet.',
    ({ snapshots }) => snapshots && (snapshots.soundAt ?? 0) / 1000,
  ],
  [
    'ballast_snapshot_unsound',
    'Whether the newest snapshot has inconsistent records: 1 or 0. The log names the projects of these records.',
    ({ snapshots }) => snapshots && (snapshots.unsound ? 1 : 0),
  ],
  ['ballast_snapshot_bytes', 'Size of the newest snapshot.', ({ snapshots }) => snapshots?.bytes],
  [
    'ballast_snapshot_duration_seconds',
    'How long the last snapshot took; 0 before the first since the start.',
    ({ snapshots }) => snapshots?.seconds,
  ],
  ['ballast_snapshot_failures_total', 'Snapshots that could not be made.', ({ snapshots }) => snapshots?.failures],
  ['ballast_summaries_total', 'Summaries of builds that were written.', ({ summaries }) => summaries.written],
  ['ballast_summaries_waiting', 'Builds that wait for their summary.', ({ summaries }) => summaries.waiting],
  [
    'ballast_webhook_deliveries_total',
    'Deliveries to webhooks, by result: delivered, given_up or dropped; failed are attempts.',
    ({ deliveries }) => deliveries,
    'result',
  ],
  [
    'ballast_tls_certificate_expiry_timestamp_seconds',
    'When the TLS certificate expires.',
    ({ certificateExpiresAt: at }) => at && at / 1000,
  ],
];

/** The metrics that Prometheus reads. They contain no name of a project, build or person. */
export class Metrics {
  readonly #registry = new Registry();
  readonly #requests: Histogram;
  readonly #unavailable: Counter;
  readonly #commits: Durations;
  readonly #statements: Histogram;
  /** The series of #statements, by kind. */
  readonly #statementsOf = new Map<string, Durations>();
  readonly #jobs: Histogram;
  readonly #jobWaits: Durations;
  /** The series of #requests, by endpoint and status. */
  readonly #requestsOf = new Map<string, Map<number, Durations>>();
  /** The series of #jobs. */
  readonly #jobsOf = new Map<string, Durations>();
  #update = () => {};
  readonly #batches: Counter;
  readonly #testFiles: Counter;
  readonly #reassignedBatches: Counter;
  readonly #proofs: Counter;

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
    this.#statements = this.#histogram('ballast_database_statement_duration_seconds', 'Time until the database answered a statement.');
    this.#jobWaits = this.#histogram('ballast_job_wait_seconds', 'Time that large test suites waited for a worker thread.').with({});
    this.#jobs = this.#histogram('ballast_job_duration_seconds', 'Time that large test suites took in a worker thread.');
    this.#unavailable = this.#counter('ballast_unavailable_total', 'Requests answered with status 503, by reason.', 'reason');
    for (const reason of unavailableReasons) this.#unavailable.inc({ reason }, 0);
    this.#batches = this.#counter('ballast_batches_total', 'Batches that queues handed out, without repeated ones.');
    this.#testFiles = this.#counter('ballast_batch_test_files_total', 'Test files in the batches that queues handed out.');
    this.#reassignedBatches = this.#counter(
      'ballast_lost_batches_total',
      'Batches reassigned to other nodes because their node was silent for too long or restarted.',
    );
    this.#proofs = this.#counter('ballast_proofs_total', 'Questions whether a tree is proved, by answer.', 'answer');
    for (const answer of ['proved', 'not_proved']) this.#proofs.inc({ answer }, 0);
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

  /** @param kind read or change */
  observeStatement(kind: string, seconds: number): void {
    let durations = this.#statementsOf.get(kind);
    if (!durations) this.#statementsOf.set(kind, (durations = this.#statements.with({ kind })));
    durations.observe(seconds);
  }

  observeJob(job: string, waitedSeconds: number, seconds: number): void {
    this.#jobWaits.observe(waitedSeconds);
    let durations = this.#jobsOf.get(job);
    if (!durations) this.#jobsOf.set(job, (durations = this.#jobs.with({ job })));
    durations.observe(seconds);
  }

  countBatch(testFiles: number): void {
    this.#batches.inc();
    this.#testFiles.inc(testFiles);
  }

  countReassignedBatch(): void {
    this.#reassignedBatches.inc();
  }

  countProof(isProved: boolean): void {
    this.#proofs.inc({ answer: isProved ? 'proved' : 'not_proved' });
  }

  /** Adds the metrics that are the state of the server. @param stateNow called for each request for metrics */
  addState(stateNow: () => Promise<ServerState>): void {
    const metrics = STATE_METRICS.map(([name, help, read, label]) => {
      const metric = name.endsWith('_total') ? this.#counter(name, help, label) : new Gauge(this.#options(name, help, label));
      return { metric, read, label };
    });
    this.#update = async () => {
      const state = await stateNow();
      for (const { metric, read, label } of metrics) {
        // A reset sets a metric without labels to 0, and an alert would take that for a value.
        if (label === undefined) metric.remove();
        else metric.reset();
        const value = read(state);
        if (typeof value === 'number') metric.inc(value);
        else for (const [name, each] of Object.entries(value ?? {})) metric.inc({ [label!]: name }, each);
      }
    };
  }

  /** Returns all metrics in the text format of Prometheus. */
  async text(): Promise<{ contentType: string; body: string }> {
    await this.#update();
    return { contentType: this.#registry.contentType, body: await this.#registry.metrics() };
  }

  #histogram(name: string, help: string): Histogram {
    return new Histogram(this.#registry, name, help);
  }

  #counter(name: string, help: string, label?: string): Counter {
    return new Counter(this.#options(name, help, label));
  }

  #options(name: string, help: string, label: string | undefined) {
    return { name, help, labelNames: label === undefined ? [] : [label], registers: [this.#registry] };
  }
}

const BUCKETS_SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** The durations under one set of labels. */
export class Durations {
  /** By bucket; the last one is for what is longer than all of them. */
  readonly counts = new Float64Array(BUCKETS_SECONDS.length + 1);
  sum = 0;

  observe(seconds: number): void {
    let bucket = 0;
    while (seconds > BUCKETS_SECONDS[bucket]!) bucket += 1;
    this.counts[bucket]! += 1;
    this.sum += seconds;
  }
}

interface Sample {
  metricName: string;
  labels: Record<string, string | number>;
  value: number;
}

/** A histogram of durations in a registry of prom-client, whose own histogram takes 1.5 us for each observation. */
export class Histogram {
  readonly type = 'histogram';
  readonly aggregator = 'sum';
  readonly #series: { labels: Record<string, string>; durations: Durations }[] = [];

  constructor(
    registry: Registry,
    readonly name: string,
    readonly help: string,
  ) {
    registry.registerMetric(this as unknown as Metric);
  }

  /** Adds the series with these labels. */
  with(labels: Record<string, string>): Durations {
    const durations = new Durations();
    this.#series.push({ labels, durations });
    return durations;
  }

  /** Called by the registry. */
  get(): { name: string; help: string; type: string; aggregator: string; values: Sample[] } {
    const { name, help, type, aggregator } = this;
    return { name, help, type, aggregator, values: this.#series.flatMap(({ labels, durations }) => samplesOf(name, labels, durations)) };
  }
}

function samplesOf(name: string, labels: Record<string, string>, { counts, sum }: Durations): Sample[] {
  let count = 0;
  const buckets = [...BUCKETS_SECONDS, '+Inf'].map((le, bucket) => {
    count += counts[bucket]!;
    return { metricName: `${name}_bucket`, labels: { le, ...labels }, value: count };
  });
  return [...buckets, { metricName: `${name}_sum`, labels, value: sum }, { metricName: `${name}_count`, labels, value: count }];
}
