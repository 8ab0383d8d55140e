import fc from 'fast-check';
import { digestOfList } from '../../../../src/protocol/list-digest.js';
import { pieceOf } from '../../../../src/protocol/piece-path.js';
import type { Client } from '../../../harness/client.js';
import type { Clock } from '../../../harness/clock.js';
import { type Fields, pathsIn, queueMessage, record, splitMessage, testFiles, timedTestFiles } from '../../../harness/messages.js';
import { QueueNode } from '../../../harness/queue-node.js';
import type { PlayedCiRun, Sent, SentFile, ToldCheckout } from './justified.js';

export const LONG = 'tests/test_0.py';
export const LIST = [LONG, ...Array.from({ length: 5 }, (_, i) => `tests/test_${i + 1}.py`)];
const OTHER_LIST = [...LIST, 'tests/test_6.py'];
export const TREE = 'a'.repeat(40);
export const KEYS = ['1'.repeat(64), '2'.repeat(64)];
const OTHER_TREE = 'b'.repeat(40);
const CASES = Array.from({ length: 12 }, (_, i) => `TestA::test_b[${i}]`);
const RIGHT: ToldCheckout = { tree: TREE, proof_keys: KEYS };

/** What may be wrong with one file. */
const FILE_FAULTS = [
  ...['missing', 'failed', 'muted', 'failed in a pull', 'flaky', 'skipped', 'untold', 'scheduled', 'untimed'],
  ...['recorded as a case', 'a case failed', 'recorded twice', 'failed elsewhere', 'ran elsewhere', 'scheduled, and ran elsewhere'],
] as const;
const CHECKOUTS = {
  'no tree': null,
  'a doubt': { ...RIGHT, tree_doubt: 'a.js is changed' },
  'only a doubt': { tree_doubt: 'git took too long' },
  'another tree': { ...RIGHT, tree: OTHER_TREE },
  'another key': { ...RIGHT, proof_keys: [KEYS[0]!] },
  // No proof depends on it.
  'another command': { ...RIGHT, command_digest: '4'.repeat(64) },
  'one more key': { ...RIGHT, proof_keys: [...KEYS, '3'.repeat(64)] },
} satisfies Record<string, ToldCheckout | null>;
type CheckoutFault = keyof typeof CHECKOUTS;
const CHECKOUT_FAULTS = Object.keys(CHECKOUTS) as CheckoutFault[];
/** What may be wrong with a process of a node. */
const NODE_FAULTS = [
  ...CHECKOUT_FAULTS,
  ...(['another list', 'no id', 'no outcomes', 'a commercial client', 'dies', 'records nothing', 'cancelled', 'silent'] as const),
];
type NodeFault = (typeof NODE_FAULTS)[number];

const at = { run: fc.nat(2), node: fc.nat(3) };
const fault = fc.oneof(
  fc.record({ ...at, is: fc.constant('file' as const), file: fc.nat(LIST.length - 1), fault: fc.constantFrom(...FILE_FAULTS) }),
  fc.record({ ...at, is: fc.constant('node' as const), fault: fc.constantFrom(...NODE_FAULTS) }),
  fc.record({
    ...at,
    is: fc.constant('retry' as const),
    fault: fc.option(fc.constantFrom<'fails' | NodeFault>('fails', ...NODE_FAULTS), { nil: null }),
  }),
  fc.record({
    ...at,
    is: fc.constant('run' as const),
    fault: fc.constantFrom('long id', 'another tree', 'another key', 'another list', 'incomplete'),
  }),
);

const ciRun = fc.record({
  kind: fc.constantFrom('queue', 'queue', 'split', 'fixed split'),
  total: fc.integer({ min: 1, max: 4 }),
  id: fc.constantFrom('100', '101', '102'),
  commit_hash: fc.constantFrom('c0ffee1', 'c0ffee1', 'c0ffee2'),
  branch: fc.constantFrom('main', 'main', 'other'),
  days: fc.constantFrom(0, 0, 0, 4),
  leavesOut: fc.boolean(),
});

/** CI runs of one project, and what goes wrong in them. */
export const situation = fc.record({
  runs: fc.array(ciRun, { minLength: 1, maxLength: 3 }),
  faults: fc.array(fault, { maxLength: 5 }),
  inPieces: fc.boolean(),
  /** Builds are summed up before nodes are retried, and before a backup. */
  isSummedUp: fc.boolean(),
  /** The store is backed up after one of the steps, and restored after some more, which are lost. Null: it is not. */
  backup: fc.option(fc.record({ after: fc.nat(7), lost: fc.integer({ min: 1, max: 3 }) }), { nil: null, freq: 1 }),
});

type Situation = typeof situation extends fc.Arbitrary<infer S> ? S : never;
type Fault = Situation['faults'][number];
type FileFault = (typeof FILE_FAULTS)[number];

/** A CI run as it was played. */
export interface Played extends PlayedCiRun {
  key: string;
  sent: Sent[];
  /** Nothing of what it did, or others did in its name, may keep it from proving the tree. */
  isFaultless: boolean;
}

/** What an operator, or time, does to the server. */
export interface Operator {
  /** Writes the summaries of builds. */
  sumUp(): Promise<void>;
  backUp(): Promise<void>;
  restore(): Promise<void>;
}

/** Plays the CI runs, one after the other, and then the retries. Returns what the server can know of them. */
export async function play(
  client: Client,
  clock: Clock,
  { runs, faults, inPieces, isSummedUp, backup }: Situation,
  operator: Operator,
): Promise<Played[]> {
  if (inPieces) await learnCases(client);
  const played = new Map<string, Played>();
  const all = runs.map((run, i) => {
    const own = faults.filter(one => one.run % runs.length === i);
    return new RandomCiRun(client, clock, run, own, inPieces, played);
  });
  const steps = [...all.map(run => () => run.play()), ...all.flatMap(run => run.retries())];
  const backedUp = backup && backup.after % steps.length;
  const restored = backup && Math.min(backedUp! + backup.lost, steps.length - 1);
  const kept = new Map<Played, number>();
  for (const [i, step] of steps.entries()) {
    await step();
    if (isSummedUp && (i === all.length - 1 || i === backedUp)) await operator.sumUp();
    if (i === backedUp) {
      await operator.backUp();
      for (const one of played.values()) kept.set(one, one.sent.length);
    }
    if (i !== restored) continue;
    await operator.restore();
    for (const one of played.values()) forget(one, kept.get(one)!);
  }
  return [...played.values()];
}

/** Drops what was sent after a backup. */
function forget(one: Played, kept: number): void {
  if (one.sent.length > kept) one.isFaultless = false;
  one.sent.length = kept;
}

/** The times of the list, and the cases of the file that takes as long as all others. */
async function learnCases(client: Client) {
  const build = { commit_hash: 'before', node_total: 9 };
  await record(client, { ...build, test_files: timedTestFiles(Object.fromEntries(LIST.map(path => [path, path === LONG ? 120 : 6]))) });
  const cases = CASES.map(name => ({ name, seconds: 10, outcome: 'passed' }));
  const files = [{ path: LONG, seconds: 120, cases }];
  await client.post('/v2/test_cases', { ...build, branch: 'main', node_index: 0, ci_build_id: '1', runner: 'pytest', files });
}

/** A process of a node. */
interface Process {
  node: number;
  fault: NodeFault | 'fails' | null;
  isRetry: boolean;
  ran: string[];
}

class RandomCiRun {
  readonly id: string;
  readonly build: { commit_hash: string; branch: string; node_total: number };
  readonly isQueue: boolean;
  readonly checkout: ToldCheckout;
  readonly list: readonly string[];
  readonly fileFaults = new Map<string, FileFault>();
  readonly played: Played;

  constructor(
    readonly client: Client,
    readonly clock: Clock,
    readonly run: Situation['runs'][number],
    readonly faults: readonly Fault[],
    readonly inPieces: boolean,
    readonly all: Map<string, Played>,
  ) {
    const ofRun = new Set(faults.map(one => (one.is === 'run' ? one.fault : null)));
    this.id = ofRun.has('long id') ? run.id.repeat(100) : run.id;
    this.build = { commit_hash: run.commit_hash, branch: run.branch, node_total: run.total };
    this.isQueue = run.kind === 'queue';
    this.list = ofRun.has('another list') ? OTHER_LIST : LIST;
    this.checkout = {
      ...RIGHT,
      ...(ofRun.has('another tree') && { tree: OTHER_TREE }),
      ...(ofRun.has('another key') && { proof_keys: [KEYS[1]!] }),
    };
    for (const one of faults) if (one.is === 'file') this.fileFaults.set(LIST[one.file]!, one.fault);
    const key = JSON.stringify([this.build, this.id, this.isQueue ? 'queue' : run.kind]);
    const others = [...all.values()].filter(({ key: other }) => JSON.stringify(JSON.parse(other)[0]) === JSON.stringify(this.build));
    // Other CI runs of the build may share its split, its recordings without an id, or its name.
    for (const other of others) other.isFaultless = false;
    const known = all.get(key);
    this.played = known ?? { key, id: this.id, sent: [], leavesOut: false, isFaultless: faults.length === 0 && others.length === 0 };
    this.played.leavesOut ||= this.isQueue && run.leavesOut;
    all.set(key, this.played);
  }

  async play(): Promise<void> {
    this.clock.advance({ days: this.run.days, seconds: 60 });
    const faultOf = (node: number) => this.faults.find(one => one.is === 'node' && one.node % this.run.total === node) as any;
    const processes = Array.from({ length: this.run.total }, (_, node): Process => {
      return { node, fault: faultOf(node)?.fault ?? null, isRetry: false, ran: [] };
    });
    await this.#work(processes);
  }

  retries(): (() => Promise<void>)[] {
    return this.faults.flatMap(one => (one.is === 'retry' ? () => this.#retry(one.node, one.fault) : []));
  }

  #retry(node: number, fault: Process['fault']): Promise<void> {
    this.clock.advance({ seconds: 60 });
    return this.#work([{ node: node % this.run.total, fault, isRetry: true, ran: [] }]);
  }

  async #work(processes: readonly Process[]): Promise<void> {
    if (this.isQueue) await this.#pull(processes);
    else for (const one of processes) await this.#split(one);
    for (const one of processes) if (one.fault !== 'dies' && one.fault !== 'records nothing') await this.#record(one);
  }

  async #split(process: Process): Promise<void> {
    const { node, fault } = process;
    const paths = fault === 'another list' ? LIST.slice(1) : this.list;
    const told = this.#checkoutOf(process);
    const more = { fixed_test_suite_split: this.run.kind === 'fixed split', test_files_digest: digestOfList(paths), ...told };
    const message = {
      ...this.build,
      node_index: node,
      ci_build_id: this.id,
      cache_read_attempt: false,
      test_files: testFiles(paths),
      ...more,
    };
    const reply = await this.client.post('/v1/build_distributions/subset', splitMessage(message));
    if (reply.status === 409) return this.#refused();
    process.ran = pathsIn(reply);
    this.#begun(node, told, paths, process.ran.length > 0);
    for (const path of process.ran) this.#note({ is: 'handed', node, path });
  }

  async #pull(processes: readonly Process[]): Promise<void> {
    const isIncomplete = this.faults.some(one => one.is === 'run' && one.fault === 'incomplete');
    const working: { process: Process; puller: Puller; batches: number }[] = [];
    for (const process of processes) {
      const { node, fault } = process;
      const paths = fault === 'another list' ? LIST.slice(1) : this.list;
      const told = this.#checkoutOf(process);
      const proved = this.run.leavesOut && { proved_max_age: 604_800 };
      const fields: Fields = { ...this.build, ...(this.inPieces && { pieces: 'pytest' }), ...proved, sends_heartbeats: true };
      const isCommercial = fault === 'a commercial client';
      const puller = isCommercial
        ? new CommercialNode(this.client, { ...this.build, node_index: node, node_build_id: this.id })
        : new OwnNode(this.client, node, { ...fields, ...told, test_queue_id: this.id, test_files_digest: digestOfList(paths) });
      const batch = await puller.start(paths);
      if (!batch) {
        if (puller.isRefused) this.#refused();
        continue;
      }
      this.#begun(node, isCommercial ? null : told, paths, !isCommercial && batch.length > 0);
      this.#took(process, batch);
      if (batch.length > 0) working.push({ process, puller, batches: 1 });
    }
    for (let silences = 0; working.length > 0; ) {
      for (const one of [...working]) {
        const { process, puller } = one;
        const { fault } = process;
        const leave = () => working.splice(working.indexOf(one), 1);
        if (fault === 'silent' || fault === 'dies' || (isIncomplete && one.batches > 1 && !process.isRetry)) {
          leave();
          continue;
        }
        const failed = puller.paths.filter(path => this.#failsInPull(process, path));
        if (fault === 'cancelled') {
          await puller.cancel(puller.paths.slice(1));
          leave();
          continue;
        }
        for (const path of failed) this.#note({ is: 'failed', path });
        const batch = await puller.next(failed);
        one.batches += 1;
        this.#took(process, batch!);
        if (batch!.length > 0) continue;
        // Others may have fallen silent.
        if (silences < 2 && processes.some(other => other.fault === 'silent' || other.fault === 'dies') && working.length === 1) {
          this.clock.advance({ seconds: 100 });
          silences += 1;
        } else leave();
      }
    }
  }

  #took(process: Process, paths: readonly string[]): void {
    process.ran.push(...paths);
    for (const path of paths) this.#note({ is: 'handed', node: process.node, path });
  }

  /** Reports whether a node tells of a failure when it pulls. Commercial clients do not. */
  #failsInPull({ fault, isRetry }: Process, path: string): boolean {
    if (fault === 'a commercial client') return false;
    return fault === 'fails' || (!isRetry && ['failed', 'muted', 'failed in a pull'].includes(this.#faultOf(path) ?? ''));
  }

  #faultOf(path: string): FileFault | undefined {
    // Of the pieces of a file only one is lost or failed.
    return this.fileFaults.get(path) ?? (pieceOf(path)?.number === 1 ? this.fileFaults.get(pieceOf(path)!.file) : undefined);
  }

  async #record(process: Process): Promise<void> {
    const { node, fault, isRetry, ran } = process;
    if (ran.length === 0 && (fault !== null || !this.isQueue)) return;
    const tells = fault !== 'no outcomes' && fault !== 'a commercial client';
    const isNamed = fault !== 'no id' && fault !== 'a commercial client';
    const elsewhere: SentFile[] = [];
    const done = fault === 'cancelled' && this.isQueue ? ran.slice(0, -1) : ran;
    const files = done.flatMap((path): SentFile[] => {
      const passed = { path, time_execution: 1 };
      if (fault === 'fails') return [{ ...passed, outcome: 'failed' }];
      switch (isRetry ? undefined : this.#faultOf(path)) {
        case 'missing':
          return [];
        case 'failed':
          return [{ ...passed, outcome: 'failed' }];
        case 'muted':
          return [{ ...passed, outcome: 'muted' }];
        case 'flaky':
          return [{ ...passed, outcome: 'flaky' }];
        case 'skipped':
          return [{ path, time_execution: 0, ran: true, no_test: true, outcome: 'skipped' }];
        case 'scheduled':
          return [{ path, time_execution: 0 }];
        case 'untimed':
          return [{ path, time_execution: 0, ran: true }];
        case 'recorded as a case':
          return [{ ...passed, path: `${path}::test_c` }];
        case 'a case failed':
          return [passed, { ...passed, path: `${path}::test_c`, outcome: 'failed' }];
        case 'recorded twice':
          elsewhere.push(passed);
          return [passed];
        case 'failed elsewhere':
          elsewhere.push({ ...passed, outcome: 'failed' });
          return [passed];
        case 'untold':
        case 'ran elsewhere':
          elsewhere.push(passed);
          return [];
        case 'scheduled, and ran elsewhere':
          elsewhere.push(passed);
          return [{ path, time_execution: 0 }];
        default:
          return [passed];
      }
    });
    await this.#send(node, files, isNamed, tells);
    if (elsewhere.length === 0) return;
    const other = (node + 1) % this.run.total;
    // A client in fallback names no CI run, an older one tells no outcomes.
    const faults = new Set(done.map(path => this.#faultOf(path)));
    if (faults.has('untold')) await this.#send(other, elsewhere, true, false);
    else await this.#send(other, elsewhere, !faults.has('ran elsewhere') && !faults.has('scheduled, and ran elsewhere'), true);
  }

  async #send(node: number, files: readonly SentFile[], isNamed: boolean, tells: boolean): Promise<void> {
    const named = { ...(isNamed && { ci_build_id: this.id }), ...(tells && { tells_outcomes: true }) };
    await record(this.client, { ...this.build, node_index: node, ...named, test_files: files });
    const build = JSON.stringify(this.build);
    for (const other of this.all.values()) {
      if (JSON.stringify(JSON.parse(other.key)[0]) !== build || other.sent.length === 0) continue;
      if (isNamed ? other.id === this.id : true) other.sent.push({ is: 'recorded', node, isNamed, tells, files });
    }
  }

  #checkoutOf({ fault }: Process): ToldCheckout | null {
    return fault !== null && fault in CHECKOUTS ? CHECKOUTS[fault as CheckoutFault] : this.checkout;
  }

  #begun(node: number, checkout: ToldCheckout | null, list: readonly string[], took: boolean): void {
    this.#note({ is: 'begun', node, at: this.clock.now(), checkout, list, took });
  }

  #refused(): void {
    this.#note({ is: 'refused' });
  }

  #note(sent: Sent): void {
    this.played.sent.push(sent);
  }
}

/** A node that pulls from a queue. */
interface Puller {
  readonly paths: readonly string[];
  readonly isRefused: boolean;
  /** Null: it was refused. */
  start(paths: readonly string[]): Promise<string[] | null>;
  next(failed: readonly string[]): Promise<string[]>;
  cancel(failed: readonly string[]): Promise<unknown>;
}

class OwnNode implements Puller {
  readonly #node: QueueNode;
  isRefused = false;

  constructor(client: Client, node: number, fields: Fields) {
    this.#node = new QueueNode(client, node, fields);
  }

  get paths() {
    return this.#node.paths;
  }

  async start(paths: readonly string[]) {
    const reply = await this.#node.connect();
    if (reply.json.code === 'ATTEMPT_CONNECT_TO_QUEUE_FAILED') {
      const first = await this.#node.initialise(paths);
      this.isRefused = first.status === 409;
      if (first.status !== 200) return null;
    } else if (reply.status !== 200) return null;
    return this.#node.start(paths);
  }

  next = (failed: readonly string[]) => this.#node.next(failed);
  cancel = (failed: readonly string[]) =>
    this.#node.client.post('/v2/queues/cancel', { ...this.#node.process, ...this.#cancelled(failed) });
  #cancelled = (failed: readonly string[]) => ({ ...this.#node.build, failed_paths: failed });
}

class CommercialNode implements Puller {
  paths: string[] = [];
  readonly isRefused = false;

  constructor(
    readonly client: Client,
    readonly fields: Fields,
  ) {}

  async start(paths: readonly string[]) {
    const message = queueMessage({ ...this.fields, attempt_connect_to_queue: false, test_files: testFiles(paths) });
    const reply = await this.client.post('/v1/queues/queue', message);
    return reply.status === 200 && Array.isArray(reply.json.test_files) ? (this.paths = pathsIn(reply)) : null;
  }

  async next() {
    const message = queueMessage({ ...this.fields, can_initialize_queue: false, attempt_connect_to_queue: false });
    return (this.paths = pathsIn(await this.client.post('/v1/queues/queue', message)));
  }

  cancel = async () => {};
}
