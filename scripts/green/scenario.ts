/** What happens in one run of the harness, drawn beforehand. */
export interface Scenario {
  number: number;
  /** Names of hostilities. */
  hostilities: string[];
  /** Files have recorded times, so that a split differs from one by name. */
  hasTimes: boolean;
  /** How a node knows which CI run this is. */
  identity: 'own variables' | 'CI variables';
  /** A node finds what the CI run before left in its folder. */
  keepsFolders: boolean;
  /** A silent node's batch goes to another one. */
  leases: boolean;
  /** What the clock of the server is off by when it starts. */
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
  /** A script of `split` and `record` ends with what `record` ended with, where the tests passed. */
  heedsRecord: boolean;
  jobs: Job[];
  /** Jobs start one after the other. */
  inTurn: boolean;
  /** Jobs that failed are run again, once. */
  runsFailedAgain: boolean;
  /** The proxy passes on what jobs that are run again send. */
  calmsDown: boolean;
  events: Event[];
  /** Of the answers to `verify`. */
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
  /** It ends with 0 whatever happened, as behind a pipe. */
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
  /** Requests of which nothing gets through, from the n-th on, from 0. */
  cutOff: { from: number; requests: number } | null;
}

/** `served`: the server has got the request all the same. */
export interface ProxyFault {
  name: string;
  served: boolean;
}

/** What the operator does before the n-th request of a CI run gets through. */
export interface Event {
  at: number;
  what: 'kill' | 'empty' | 'back up' | 'copy' | 'restore' | 'set clock' | 'set clock and kill';
  hours: number;
  /** Requests wait until the server is back; else their connections are dropped. */
  isHeld: boolean;
}

/** What a job is called in reports. */
export const nameOf = ({ suite, node, mode }: Pick<Job, 'suite' | 'node' | 'mode'>): string => `${mode} node ${node} of suite ${suite}`;

export const isOwnClient = ({ mode }: Pick<Job, 'mode'>): boolean => mode === 'queue' || mode === 'split';
