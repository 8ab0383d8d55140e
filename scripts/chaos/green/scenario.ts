/** What happens in one run of the harness. It is drawn before the run. */
export interface Scenario {
  number: number;
  /** Names of hostilities. */
  hostilities: string[];
  /** Files have recorded times, so that a split differs from one by name. */
  hasTimes: boolean;
  /** How a node knows which CI run this is. */
  identity: 'own variables' | 'CI variables';
  /** A node finds the files that the previous CI run left in its folder. */
  keepsFolders: boolean;
  /** The batch of a silent node goes to another node. */
  leases: boolean;
  /** The error of the server's clock at its start. */
  clockHours: number;
  /** Its CI runs are played at the same time. */
  overlaps: boolean;
  /** Of one commit, in sequence unless they overlap. */
  ciRuns: CiRun[];
}

/** The first two are Ballast's own client, the others speak the protocol as the commercial clients do. */
export type Mode = 'queue' | 'split' | 'v1 queue' | 'v1 queue without uuids' | 'v1 split' | 'v2 queue';

export interface CiRun {
  buildId: string;
  nodeTotal: number;
  /** `split --dynamic` */
  isDynamic: boolean;
  /** When the tests passed, a script of `split` and `record` ends with the exit code of `record`. */
  heedsRecord: boolean;
  jobs: Job[];
  /** Jobs start one after the other. */
  inTurn: boolean;
  /** Jobs that failed are run again, once. */
  runsFailedAgain: boolean;
  /** The proxy passes on all requests of jobs that are run again. */
  calmsDown: boolean;
  events: Event[];
  /** What the proxy does to the requests of `verify`. */
  verifyTrouble: Trouble | null;
}

/** One node of one suite. */
export interface Job {
  suite: string;
  node: number;
  mode: Mode;
  files: string[];
  retries: number;
  fallback: boolean;
  /** Its CI system never starts it. */
  never: boolean;
  runner: Runner;
  kill: Kill | null;
  trouble: Trouble | null;
}

export interface Runner {
  hasReport: boolean;
  /** It always ends with 0, as in a pipe. */
  losesExitCode: boolean;
  /** On its first start it ends with 1 in the middle of its first batch, without a report. */
  crashes: boolean;
}

export interface Kill {
  signal: 'KILL' | 'TERM';
  /** While the runner runs the n-th file of a batch, or instead of the n-th answer. */
  at: { batch: number; file: number } | { answer: number };
  /** The node is started again. */
  again: boolean;
}

/** What the proxy does to the requests of one job. */
export interface Trouble {
  /** Of each request. */
  chance: number;
  kinds: ProxyFault[];
  /** Requests that do not get through: from the n-th on, counted from 0. */
  cutOff: { from: number; requests: number } | null;
}

/** `served`: the server still gets the request. */
export interface ProxyFault {
  name: string;
  served: boolean;
}

/** An operation before the n-th request of a CI run gets through. */
export interface Event {
  at: number;
  what: 'kill' | 'empty' | 'back up' | 'copy' | 'restore' | 'set clock' | 'set clock and kill';
  hours: number;
  /** Requests wait until the server is back; otherwise their connections are dropped. */
  isHeld: boolean;
}

/** The name of a job in reports. */
export const nameOf = ({ suite, node, mode }: Pick<Job, 'suite' | 'node' | 'mode'>): string => `${mode} node ${node} of suite ${suite}`;

export const isOwnClient = ({ mode }: Pick<Job, 'mode'>): boolean => mode === 'queue' || mode === 'split';
