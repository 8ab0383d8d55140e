import { pick, type Random, randomInteger } from '../../../test/testbed/random.js';
import { forgedAnswers, wrongAnswers } from './answers.js';
import { type CiRun, drawFiles, type Job, type Operation, type ProxyFault, type Scenario } from './scenario.js';

/** Kinds of faults by name, as `--only` takes it. Each function adds one to a scenario. */
export const faults = {
  'later run': (scenario: Scenario, random: Random) => {
    addLaterRun(scenario, random() < 0.5 ? changedList(lastRun(scenario).jobs[0]!.files, random) : null);
  },
  'earlier run only': (scenario: Scenario, random: Random) => {
    // The second CI run never reaches the server, or never starts.
    const run = addLaterRun(scenario, null);
    const never = random() < 0.5;
    for (const job of run.jobs) {
      job.neverStarts = never;
      job.requestFaults = cutOff(0);
    }
    run.retriesFailedJobs = false;
    if (random() < 0.7) scenario.identity = 'CI variables';
  },
  'two suites': (scenario: Scenario, random: Random) => {
    const run = lastRun(scenario);
    const other = pick(random, ['queue', 'split'] as const);
    const mode = random() < 0.8 ? run.jobs[0]!.mode : other;
    const files = drawFiles('b', randomInteger(random, 20), random);
    run.jobs.push(
      ...run.jobs.map(
        (job): Job => ({ ...job, suite: 'b', mode, files, runner: { ...job.runner, hasReport: job.runner.hasReport || mode === 'split' } }),
      ),
    );
  },
  'a list differs': (scenario: Scenario, random: Random) => {
    const { jobs } = lastRun(scenario);
    const job = pick(random, jobs);
    job.files = changedList(job.files, random);
  },
  'nodes never start': (scenario: Scenario, random: Random) => {
    const { jobs } = lastRun(scenario);
    const all = random() < 0.2;
    for (const job of jobs) job.neverStarts = all || random() < 0.4;
  },
  'nodes are killed': (scenario: Scenario, random: Random) => {
    for (const job of atLeastOne(lastRun(scenario).jobs, random)) {
      const at =
        random() < 0.7
          ? { batch: randomInteger(random, job.mode.endsWith('split') ? 1 : 2), file: randomInteger(random, 3) }
          : { answer: randomInteger(random, 4) };
      job.kill = { signal: pick(random, ['KILL', 'KILL', 'TERM', 'INT', 'HUP']), at, isRetried: random() < 0.6 };
    }
  },
  'nodes fall silent': (scenario: Scenario, random: Random) => {
    const run = lastRun(scenario);
    run.retriesFailedJobs = false;
    if (random() < 0.8) takeQueue(run);
    for (const job of someButOne(run.jobs, random)) {
      const at = { batch: randomInteger(random, 2), file: randomInteger(random, 3) };
      job.kill = { signal: job.mode === 'queue' && random() < 0.6 ? 'STOP' : 'KILL', at, isRetried: false };
    }
  },
  'nodes come back': (scenario: Scenario, random: Random) => {
    const run = lastRun(scenario);
    takeQueue(run);
    for (const job of atLeastOne(run.jobs, random))
      job.runner = { ...job.runner, pause: { batch: randomInteger(random, 2), kind: pick(random, ['stopped', 'partitioned']) } };
  },
  'nodes come late': (scenario: Scenario, random: Random) => {
    const run = lastRun(scenario);
    if (random() < 0.6) takeQueue(run);
    for (const job of someButOne(run.jobs, random)) {
      job.delaySeconds = 3 * random() ** 2;
      job.neverStarts = random() < 0.3;
    }
  },
  'files hang': (scenario: Scenario, random: Random) => {
    const run = lastRun(scenario);
    // Nobody ends a command that hangs in a split.
    takeQueue(run);
    const { jobs } = run;
    const hanging = new Set(Array.from({ length: randomInteger(random, 2) }, () => pick(random, jobs[0]!.files)));
    const mark = random() < 0.7 ? 'hangs' : 'hangs_stubbornly';
    for (const job of jobs) {
      job.timeLimitSeconds = 45;
      job.files = job.files.map(path => (hanging.has(path) ? marked(path, mark) : path));
    }
  },
  'runners report less': (scenario: Scenario, random: Random) => {
    const run = lastRun(scenario);
    const { jobs } = run;
    const losesExitCode = random() < 0.5;
    // Otherwise nothing reports the failure.
    if (losesExitCode) run.checksRecordExitCode = true;
    for (const job of jobs) {
      job.runner = {
        ...job.runner,
        hasReport: losesExitCode || job.runner.hasReport,
        losesExitCode,
        crashes: !losesExitCode && random() < 0.3,
      };
    }
    const kinds = losesExitCode ? ['fails', 'flaky'] : ['fails', 'flaky', 'unreported', 'skipped'];
    const renamed = new Map(
      jobs.flatMap(({ files }) => files).map(path => [path, random() < 0.15 ? marked(path, pick(random, kinds)) : path]),
    );
    for (const job of jobs) job.files = job.files.map(path => renamed.get(path)!);
  },
  'folders are kept': (scenario: Scenario, random: Random) => {
    scenario.keepsFolders = true;
    const run = addLaterRun(scenario, null);
    for (const job of atLeastOne(run.jobs, random)) job.runner = { ...job.runner, crashes: true };
  },
  'runs overlap': (scenario: Scenario, random: Random) => {
    scenario.overlaps = true;
    const run = addLaterRun(scenario, null);
    for (const job of atLeastOne(run.jobs, random)) job.kill = { signal: 'KILL', at: { batch: 1, file: 1 }, isRetried: false };
  },
  'answers are lost': (scenario: Scenario, random: Random) => {
    if (random() < 0.6) enableFallback(lastRun(scenario));
    addRequestFaults(scenario, random, [
      { name: 'lost', served: false },
      { name: 'lost', served: true },
      { name: 'lost', served: true },
      { name: 'delayed', served: true },
      { name: 'sent twice', served: true },
    ]);
  },
  'answers are nonsense': (scenario: Scenario, random: Random) => {
    const names = Object.keys(wrongAnswers);
    const success = names.filter(name => name.startsWith('20'));
    addRequestFaults(scenario, random, drawProxyFaults(pick(random, [names, success, success]), random));
  },
  'answers are forged': (scenario: Scenario, random: Random) => {
    addRequestFaults(scenario, random, drawProxyFaults(Object.keys(forgedAnswers), random));
  },
  'nodes are cut off': (scenario: Scenario, random: Random) => {
    const { jobs } = lastRun(scenario);
    const from = pick(random, [0, 0, 0, 0, 1, 2, 4]);
    const requests = pick(random, [1, 1, 1, 2, FOR_GOOD]);
    const reached = pick(random, jobs);
    for (const job of jobs) if (job !== reached && random() < 0.6) job.requestFaults = cutOff(from, requests);
    scenario.hasTimes = true;
    if (random() < 0.8) enableFallback(lastRun(scenario));
  },
  'the server is killed': (scenario: Scenario, random: Random) => {
    addOperations(scenario, random, ['kill']);
  },
  'the store is emptied': (scenario: Scenario, random: Random) => {
    // With a split only the gate can detect it.
    const isQueue = random() < 0.7;
    for (const job of lastRun(scenario).jobs) if (isQueue && job.mode === 'split') job.mode = 'queue';
    addOperations(scenario, random, ['empty']);
  },
  'the store is restored': (scenario: Scenario, random: Random) => {
    addOperations(scenario, random, [random() < 0.5 ? 'back up' : 'copy', 'restore']);
  },
  'the clock is set': (scenario: Scenario, random: Random) => {
    const hours = random() < 0.7 ? 1 : -1;
    if (random() < 0.4) return addOperations(scenario, random, [random() < 0.5 ? 'set clock' : 'set clock and kill'], hours);
    // The clock is wrong during one CI run, and right again in the next one, which is incomplete.
    scenario.clockHours = hours;
    const run = addLaterRun(scenario, null);
    run.operations.push({ at: 1, kind: random() < 0.5 ? 'set clock' : 'set clock and kill', hours: 0, holdsRequests: true });
    if (random() < 0.8)
      for (const job of atLeastOne(run.jobs, random)) job.kill = { signal: 'KILL', at: { batch: 1, file: 1 }, isRetried: random() < 0.3 };
    return undefined;
  },
} satisfies Record<string, (scenario: Scenario, random: Random) => void>;

/** Ballast does not protect against these. They are played only if `--only` names them. */
export const onlyOnRequest: ReadonlySet<string> = new Set<keyof typeof faults>(['runs overlap']);

/** Nodes leave a queue, or files hang, and nothing else is broken. */
export const departures: ReadonlySet<string> = new Set<keyof typeof faults>([
  'nodes never start',
  'nodes are killed',
  'nodes fall silent',
  'nodes come back',
  'nodes come late',
  'files hang',
]);

export type FaultName = keyof typeof faults;

const lastRun = ({ ciRuns }: Scenario): CiRun => ciRuns.at(-1)!;

function enableFallback({ jobs }: CiRun): void {
  for (const job of jobs) job.fallback = true;
}

/** Has all nodes run Ballast's own client in queue mode. */
function takeQueue({ jobs }: CiRun): void {
  for (const job of jobs) job.mode = 'queue';
}

/** Draws a part of the items, at least one. */
function atLeastOne<T>(items: readonly T[], random: Random): T[] {
  const one = pick(random, items);
  return items.filter(item => item === one || random() < 0.4);
}

/** Draws a part of the items, at least one but never all. */
function someButOne<T>(items: readonly T[], random: Random): T[] {
  const one = pick(random, items);
  const others = items.filter(item => item !== one);
  return others.length === 0 ? [] : atLeastOne(others, random);
}

/** Adds a CI run of the same commit, and moves the faults drawn so far to it. */
function addLaterRun(scenario: Scenario, files: string[] | null): CiRun {
  const run = lastRun(scenario);
  const before = withoutFaults(run);
  const next = { ...run, buildId: String(Number(run.buildId) + 1), jobs: run.jobs.map(job => ({ ...job, files: files ?? job.files })) };
  scenario.ciRuns.splice(-1, 1, before, next);
  return next;
}

/** The same CI run, in which only what the files and their runner are may go wrong. */
export function withoutFaults(run: CiRun): CiRun {
  return {
    ...run,
    jobs: run.jobs.map(job => ({
      ...job,
      delaySeconds: 0,
      neverStarts: false,
      kill: null,
      requestFaults: null,
      runner: { ...job.runner, crashes: false, pause: null },
    })),
    operations: [],
    verifyFaults: null,
  };
}

/** The list with one file added, one removed, or only its start. */
function changedList(files: readonly string[], random: Random): string[] {
  const kind = random();
  const at = Math.floor(random() * files.length);
  if (kind < 0.4 || files.length === 1) return [...files.slice(0, at), 'a/spec/new_spec.rb', ...files.slice(at)];
  if (kind < 0.7) return files.filter((_, i) => i !== at);
  return files.slice(0, Math.max(1, at));
}

export const marked = (path: string, mark: string): string => path.replace(/(\d+)/, `$1_${mark}`);

const FOR_GOOD = 1000;

const cutOff = (from: number, requests = FOR_GOOD) => ({ chance: 0, faults: [], cutOff: { from, requests } });

/** One or all of the faults, each with and without the server getting the request. */
function drawProxyFaults(names: readonly string[], random: Random): ProxyFault[] {
  const drawn = random() < 0.6 ? [pick(random, names)] : names;
  return drawn.flatMap(name => [
    { name, served: true },
    { name, served: false },
  ]);
}

function addRequestFaults(scenario: Scenario, random: Random, faults: ProxyFault[]): void {
  const run = lastRun(scenario);
  const chance = pick(random, [0.15, 0.3, 0.6, 1]);
  for (const job of random() < 0.5 ? run.jobs : atLeastOne(run.jobs, random))
    job.requestFaults = { chance, faults, cutOff: job.requestFaults?.cutOff ?? null };
  if (random() < 0.3) run.verifyFaults = { chance, faults, cutOff: null };
}

const FEW_REQUESTS = 4;

function addOperations(scenario: Scenario, random: Random, kinds: readonly Operation['kind'][], hours = 0): void {
  const holdsRequests = random() < 0.7;
  const { nodeTotal } = lastRun(scenario);
  // The first one or two requests of a node create the queue; later pulls do not.
  const positions = kinds.map(() => nodeTotal + randomInteger(random, nodeTotal + FEW_REQUESTS)).sort((a, b) => a - b);
  lastRun(scenario).operations.push(...kinds.map((kind, i) => ({ at: positions[i]!, kind, hours, holdsRequests })));
}
