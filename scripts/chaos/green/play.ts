import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { piecePath } from '../../../src/protocol/piece-path.js';
import { removeFolder, temporaryFolder } from '../../../test/testbed/cleanup.js';
import { requestJson } from '../../../test/testbed/client.js';
import { type Random, seededRandom } from '../../../test/testbed/random.js';
import { type CaseRun, runCases } from './cases.js';
import { startCommercial } from './commercial-client.js';
import { Operator, type Processes } from './operator.js';
import { askForProof, BRANCH, startJob, verify } from './own-client.js';
import { FaultProxy, type Servers } from './proxy.js';
import { parseFileRuns } from './runner.js';
import { type CiRun, isOwnClient, type Job, jobName, type Pieces, type Scenario } from './scenario.js';
import type { PlayedCiRun, Start } from './violations.js';

export interface PlayedScenario {
  ciRuns: PlayedCiRun[];
  /** Operations on the server. */
  operations: readonly string[];
}

/** Plays a scenario with servers of its own. */
export async function play(scenario: Scenario, seed: number, processes: Processes): Promise<PlayedScenario> {
  const folder = temporaryFolder();
  const operator = await Operator.start(scenario, processes);
  try {
    if (scenario.hasTimes) await recordTimes(operator, scenario, seededRandom(seed + scenario.number));
    const ciRuns: PlayedCiRun[] = [];
    const playOne = (ciRun: CiRun) => playCiRun(scenario, seed, ciRun, operator, folder, [...ciRuns]);
    if (scenario.overlaps) ciRuns.push(...(await Promise.all(scenario.ciRuns.map(playOne))));
    else for (const ciRun of scenario.ciRuns) ciRuns.push(await playOne(ciRun));
    return { ciRuns, operations: operator.done };
  } finally {
    await operator.stop();
    removeFolder(folder);
  }
}

/** Plays a CI run of a scenario. The folder must be there, and is not removed. @param before the CI runs of the scenario that have ended */
export function playCiRun(
  scenario: Scenario,
  seed: number,
  ciRun: CiRun,
  servers: Servers,
  folder: string,
  before: readonly PlayedCiRun[] = [],
): Promise<PlayedCiRun> {
  return new CiRunPlay(scenario, seed, ciRun, servers, folder, before).play();
}

/** Records times for an earlier commit, so that a split differs from one by file name. */
async function recordTimes(operator: Operator, { ciRuns, pieces }: Scenario, random: Random): Promise<void> {
  const paths = [...new Set(ciRuns.flatMap(({ jobs }) => jobs.flatMap(({ files }) => files)))];
  const { known = {}, caseSeconds = 20 } = pieces ?? {};
  const test_files = paths.map(path => {
    const seconds = (0.1 + 20 * random() ** 4) * (caseSeconds / 20);
    return { path, time_execution: known[path] ? caseSeconds * known[path].length : seconds };
  });
  const node = { commit_hash: 'c0', branch: BRANCH, node_total: 1, node_index: 0 };
  await requestJson((await operator.url())!, '/v1/build_subsets', { ...node, test_files });
  if (pieces?.reportedBy === 'a request') await reportCases(operator, pieces, node);
}

/** Tells the cases of long files, as an earlier CI run that passed. */
async function reportCases(operator: Operator, { known, caseSeconds, areProven }: Pieces, node: object): Promise<void> {
  const report = (path: string, runs: readonly CaseRun[]) => ({
    path,
    seconds: caseSeconds * runs.length,
    cases: runs.map(({ name, outcome }) => ({ name, seconds: caseSeconds, outcome })),
  });
  const tell = async (files: readonly object[]) =>
    requestJson((await operator.url())!, '/v2/test_cases', { ...node, ci_build_id: 'earlier', runner: 'pytest', files });
  await tell(Object.entries(known).map(([file, names]) => report(file, runCases(names, 2))));
  const halves = Object.entries(known).flatMap(([file, names]) => {
    const middle = names[Math.floor(names.length / 2)]!;
    const runs = runCases(names, 2);
    const at = runs.findIndex(({ name }) => name === middle);
    return [runs.slice(0, at), runs.slice(at)].map((half, i) => ({
      ...report(piecePath({ file, number: i + 1, count: 2 }), half),
      is_piece: true,
    }));
  });
  if (areProven) await tell(halves);
}

class CiRunPlay {
  readonly #proxy: FaultProxy;
  readonly #ran: string;
  readonly #starts: Start[] = [];

  constructor(
    readonly scenario: Scenario,
    readonly seed: number,
    readonly ciRun: CiRun,
    servers: Servers,
    readonly folder: string,
    readonly before: readonly PlayedCiRun[],
  ) {
    this.#proxy = new FaultProxy(servers, ciRun.operations);
    this.#ran = join(folder, `ran-${ciRun.buildId}`);
    writeFileSync(this.#ran, '');
  }

  async play(): Promise<PlayedCiRun> {
    const { jobs, isSequential, retriesFailedJobs } = this.ciRun;
    const started = jobs.filter(({ neverStarts }) => !neverStarts);
    const startAll = async (group: readonly Job[], number: number) => {
      if (isSequential) for (const job of group) await this.#start(job, number);
      else await Promise.all(group.map(job => this.#start(job, number)));
    };
    await startAll(started, 1);
    const isFailed = (job: Job) => this.#starts.findLast(start => start.job === job)?.code !== 0;
    const retried = started.filter(job => isFailed(job) && (retriesFailedJobs || job.kill?.isRetried));
    await startAll(retried, 2);
    const verified = await this.#ask('verify', verify);
    const proved = this.scenario.asksForProofs ? await this.#ask('proved', askForProof) : null;
    return {
      ciRun: this.ciRun,
      starts: this.#starts,
      ran: parseFileRuns(readFileSync(this.#ran, 'utf8')),
      evidence: this.#proxy.evidence,
      verified,
      before: this.before,
      proved,
    };
  }

  async #start(job: Job, number: number): Promise<void> {
    const name = `${jobName(job)}, start ${number}`;
    const { kill } = job;
    if (number === 1) await sleep(1000 * job.delaySeconds);
    const answer = number === 1 && kill && 'answer' in kill.at ? kill.at.answer : null;
    // Replaced below: the process can be killed only after its start.
    let killProcess = () => {};
    const killAt = answer === null ? null : { answer, kill: () => killProcess() };
    const { buildId, retriesWithoutFaults } = this.ciRun;
    const requestFaults = number > 1 && retriesWithoutFaults ? null : job.requestFaults;
    const losesHeartbeats = number === 1 && job.runner.pause?.kind === 'partitioned';
    const listener = await this.#proxy.listen({ name, requestFaults, losesHeartbeats, random: this.#random(name), killAt });
    const suffix = this.scenario.keepsFolders ? '' : ` ${buildId} ${number}`;
    const context = { url: listener.url, ran: this.#ran, start: number, folder: join(this.folder, `${jobName(job)}${suffix}`) };
    const process = isOwnClient(job) ? startJob(this.scenario, this.ciRun, job, context) : startCommercial(this.ciRun, job, context);
    killProcess = () => process.kill(`SIG${kill!.signal}`);
    const exit = await process.exit;
    listener.close();
    this.#starts.push({ ...exit, job, number, requests: listener.log, lastPullAt: listener.lastPullAt });
  }

  async #ask(name: string, command: typeof verify): Promise<PlayedCiRun['verified']> {
    const listener = await this.#proxy.listen({
      name,
      requestFaults: this.ciRun.verifyFaults,
      losesHeartbeats: false,
      random: this.#random(name),
      killAt: null,
    });
    const exit = await command(this.scenario, this.ciRun, listener.url, join(this.folder, name));
    listener.close();
    return { ...exit, requests: listener.log };
  }

  /** Returns a random generator for a job. It does not depend on the other jobs. */
  #random(name: string): Random {
    let hash = this.seed * 1_000_003 + this.scenario.number;
    for (const character of `${this.ciRun.buildId} ${name}`) hash = Math.imul(hash ^ character.codePointAt(0)!, 16_777_619);
    return seededRandom(hash);
  }
}
