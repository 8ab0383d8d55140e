import { pick, type Random } from '../../../test/testbed/random.js';

/** The events in one run of this program. They are drawn before the run. */
export interface Scenario {
  number: number;
  /** Names of the drawn faults. */
  faults: string[];
  /** Files have recorded times, so that a split differs from one by file name. */
  hasTimes: boolean;
  /** The environment variables that tell a node its CI run. */
  identity: 'own variables' | 'CI variables';
  /** The folder of a node still has the files of the previous CI run. */
  keepsFolders: boolean;
  /** Leases are on: the batch of a silent node goes to another node. */
  leases: boolean;
  /** Time passes so much faster for servers and nodes: leases last for 90 s. */
  speed: number;
  /** The error of the server's clock at its start. */
  clockHours: number;
  /** The CI runs are played at the same time. */
  overlaps: boolean;
  /** Null: nodes run whole files. */
  pieces: Pieces | null;
  /** Nodes are in work trees of Git, and `proved` is asked after each CI run. */
  asksForProofs: boolean;
  /** CI runs of one commit, in sequence unless they overlap. */
  ciRuns: CiRun[];
}

/** Nodes run long files in pieces. */
export interface Pieces {
  /** The cases of long files, when they were reported. */
  known: Record<string, string[]>;
  caseSeconds: number;
  reportedBy: 'a request' | 'the first CI run';
  /** The cases passed in pieces, too. */
  areProven: boolean;
}

/** The first two use Ballast's own client. The others send the requests of commercial clients. */
export type Mode = 'queue' | 'split' | 'v1 queue' | 'v1 queue without uuids' | 'v1 split' | 'v2 queue';

export interface CiRun {
  buildId: string;
  nodeTotal: number;
  /** `split --dynamic` */
  isDynamic: boolean;
  /** `queue --proved` */
  leavesOutProved: boolean;
  /** `queue --retry-failed --flaky-passes` */
  retriesFiles: boolean;
  /** If the tests passed, a script of `split` and `record` exits with the code of `record`. */
  checksRecordExitCode: boolean;
  jobs: Job[];
  /** The cases of long files, in their order. */
  cases: Record<string, string[]>;
  /** Jobs start one after the other. */
  isSequential: boolean;
  /** Failed jobs are retried once. */
  retriesFailedJobs: boolean;
  /** The proxy passes on all requests of retried jobs. */
  retriesWithoutFaults: boolean;
  operations: Operation[];
  /** Treatment of the requests of `verify` by the proxy. */
  verifyFaults: RequestFaults | null;
}

/** One node of one suite. */
export interface Job {
  suite: string;
  node: number;
  mode: Mode;
  files: string[];
  retries: number;
  fallback: boolean;
  /** `queue --pieces` */
  pieces: boolean;
  /** Its files are not those of the other nodes. */
  hasOtherTree: boolean;
  /** `queue --time-limit` */
  timeLimitSeconds: number | null;
  /** Further flags of `queue`. */
  flags: string;
  /** It starts so much later than the others. */
  delaySeconds: number;
  /** The CI system never starts this job. */
  neverStarts: boolean;
  runner: Runner;
  kill: Kill | null;
  requestFaults: RequestFaults | null;
}

export interface Runner {
  hasReport: boolean;
  /** The runner always exits with 0, as in a pipe. */
  losesExitCode: boolean;
  /** On its first start the runner exits with 1 in the middle of the first batch, without a report. */
  crashes: boolean;
  pause: Pause | null;
  pieceFault: PieceFault | null;
}

/** On its first start the node is silent for longer than a lease, with the n-th batch, and goes on. */
export interface Pause {
  batch: number;
  /** Its processes stand still, or its heartbeats do not reach the server. */
  kind: 'stopped' | 'partitioned';
}

/** Faults of a runner with pieces, in each n-th command of its node. */
export interface PieceFault {
  kind: 'the selection is ignored' | 'the hook is not loaded' | 'the hook tells nothing' | 'a piece ends early';
  every: number;
}

export interface Kill {
  /** STOP: the node stands still for longer than a lease, until it gets KILL. */
  signal: 'KILL' | 'TERM' | 'INT' | 'HUP' | 'STOP';
  /** The node is killed while the runner runs the n-th file of a batch, instead of the n-th answer, or with a piece, before or after it ran. */
  at: { batch: number; file: number } | { answer: number } | { piece: 'named' | 'rest'; afterwards: boolean };
  /** The node is retried. */
  isRetried: boolean;
}

/** Treatment of the requests of one job by the proxy. */
export interface RequestFaults {
  /** Probability of a fault for each request. */
  chance: number;
  faults: ProxyFault[];
  /** Requests that are dropped: `requests` of them from the `from`-th on, counted from 0. */
  cutOff: { from: number; requests: number } | null;
}

/** A fault of one request. `served`: the server still gets the request. */
export interface ProxyFault {
  name: string;
  served: boolean;
}

/** An operation on the server before the n-th request of a CI run is forwarded. */
export interface Operation {
  at: number;
  kind: 'kill' | 'empty' | 'back up' | 'copy' | 'restore' | 'set clock' | 'set clock and kill';
  hours: number;
  /** Requests wait until the server is back; otherwise their connections are dropped. */
  holdsRequests: boolean;
}

/** Returns the name of a job in reports. */
export const jobName = ({ suite, node, mode }: Pick<Job, 'suite' | 'node' | 'mode'>): string => `${mode} node ${node} of suite ${suite}`;

export const isOwnClient = ({ mode }: Pick<Job, 'mode'>): boolean => mode === 'queue' || mode === 'split';

const FILE_NAMES = ['spec/?_spec.rb', 'spec/models/?_spec.rb', 'app/[?].test.ts', 'spec/a file ?_spec.rb'];

/** Draws the names of a suite's test files. */
export function drawFiles(suite: string, count: number, random: Random): string[] {
  return Array.from({ length: count }, (_, i) => `${suite}/${pick(random, FILE_NAMES).replace('?', String(i))}`);
}
