import { spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { signalExitCode } from '../../../src/base/signals.js';
import { killAtExit } from '../../../test/testbed/cleanup.js';
import { TOKEN } from '../../../test/testbed/client.js';
import { MAIN } from '../../../test/testbed/server.js';
import { clockImport } from './clock-import.js';
import { isMuted, writeMutes } from './mutes.js';
import { checkOut } from './proofs.js';
import type { StandIn } from './pytest-stand-in.js';
import { RUNNER } from './runner.js';
import { type CiRun, type Job, jobName, type Scenario } from './scenario.js';

/** Ballast's own client, in separate processes, called as in src/docs/connect/runners.md. */

export interface Exit {
  /** The code that a shell reports, or null if the process hung. */
  code: number | null;
  output: string;
}

export interface RunningJob {
  exit: Promise<Exit>;
  kill(signal: NodeJS.Signals): void;
}

export const COMMIT = 'c1';
export const BRANCH = 'main';

const HANG_TIMEOUT_MILLISECONDS = 120_000;

const QUEUE = `
export JOB=$$
exec "$BALLAST_NODE" "$BALLAST_MAIN" queue --stdin $REPORT_FLAGS $FLAGS -- $RUNNER {} < list.txt
`;
const SPLIT = `
export JOB=$$
"$BALLAST_NODE" "$BALLAST_MAIN" split -0 --stdin $SPLIT_FLAGS $FLAGS < list.txt > files.txt || exit
if [ -s files.txt ]; then
  code=0; xargs -0 sh runner.sh < files.txt || code=$?
  "$BALLAST_NODE" "$BALLAST_MAIN" record "$REPORT" --files-from files.txt --exit-code $code; recorded=$?
  [ -z "$MUTES" ] || exit $recorded
  [ -z "$CHECKS_RECORD" ] || [ $recorded = 0 ] || exit $recorded
  exit $code
fi
`;

/** Its name tells the client that it runs pieces. */
const PYTEST = `#!/bin/sh
exec "$BALLAST_NODE" ${JSON.stringify(fileURLToPath(new URL('./pytest-stand-in.js', import.meta.url)))} "$@"
`;

/** Only the necessary variables: those of the CI system that runs this program would change the nodes. */
function environment(scenario: Scenario, run: CiRun, url: string, job: Job | null): NodeJS.ProcessEnv {
  const plain = { PATH: process.env.PATH, BALLAST_URL: url, BALLAST_TOKEN: TOKEN };
  if (scenario.identity === 'own variables') {
    return {
      ...plain,
      BALLAST_BUILD_ID: run.buildId,
      BALLAST_BRANCH: BRANCH,
      BALLAST_COMMIT_HASH: COMMIT,
      BALLAST_NODE_TOTAL: String(run.nodeTotal),
      ...(job && { BALLAST_NODE_INDEX: String(job.node) }),
    };
  }
  return {
    ...plain,
    GITHUB_ACTIONS: 'true',
    GITHUB_RUN_ID: run.buildId,
    GITHUB_REF_NAME: BRANCH,
    GITHUB_SHA: COMMIT,
    CI_NODE_TOTAL: String(run.nodeTotal),
    ...(job && { CI_NODE_INDEX: String(job.node) }),
  };
}

/** Starts a job. `start` counts its starts in the CI run, from 1. */
export function startJob(
  scenario: Scenario,
  run: CiRun,
  job: Job,
  { url, folder, ran, start }: { url: string; folder: string; ran: string; start: number },
): RunningJob {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'runner.sh'), RUNNER);
  writeFileSync(join(folder, 'list.txt'), listText(job));
  const hasMutes = job.files.some(isMuted);
  if (hasMutes) writeMutes(job, folder);
  const { runner, kill } = job;
  const killAt = kill && 'batch' in kill.at ? kill.at : null;
  const fallbackFlag = job.fallback ? '--fallback' : '';
  const limitFlag = job.timeLimitSeconds === null ? '' : `--time-limit ${job.timeLimitSeconds}s`;
  const provedFlag = run.leavesOutProved ? '--proved' : '';
  const retryFlags = run.retriesFiles ? '--retry-failed --flaky-passes' : '';
  const queueFlags = [
    fallbackFlag,
    limitFlag,
    provedFlag,
    retryFlags,
    job.pieces ? '--pieces' : '',
    runner.losesExitCode ? '' : job.flags,
  ].join(' ');
  const standIn: StandIn = {
    cases: run.cases,
    caseSeconds: scenario.pieces?.caseSeconds ?? 0,
    fault: runner.pieceFault,
    killAtPiece: kill && 'piece' in kill.at ? kill.at : null,
  };
  if (scenario.pieces) writeFileSync(join(folder, 'pytest'), PYTEST, { mode: 0o755 });
  return spawnJob(['sh', '-c', job.mode === 'queue' ? QUEUE : SPLIT], folder, {
    ...environment(scenario, run, url, job),
    ...(scenario.asksForProofs && checkOut(run, job.hasOtherTree, folder)),
    NODE_OPTIONS: clockImport({ speed: scenario.speed, timers: 'all' }),
    BALLAST_NODE: process.execPath,
    BALLAST_MAIN: MAIN,
    BALLAST_RETRIES: String(job.retries),
    FLAGS: job.mode === 'queue' ? queueFlags : fallbackFlag,
    RUNNER: scenario.pieces ? './pytest' : 'sh runner.sh',
    STAND_IN: JSON.stringify(standIn),
    SPLIT_FLAGS: run.isDynamic ? '--dynamic' : '',
    MUTES: hasMutes ? '1' : '',
    CHECKS_RECORD: run.checksRecordExitCode ? '1' : '',
    REPORT_FLAGS: runner.hasReport ? '--junit report.xml' : '',
    REPORT: runner.hasReport ? 'report.xml' : '',
    RAN: ran,
    CI_RUN: run.buildId,
    JOB_NAME: jobName(job),
    START: String(start),
    LOSES_EXIT_CODE: runner.losesExitCode ? '1' : '',
    CRASHES: runner.crashes ? '1' : '',
    KILL_SIGNAL: kill?.signal ?? '',
    PAUSE_BATCH: String(runner.pause?.batch ?? ''),
    STOPS_NODE: runner.pause?.kind === 'stopped' ? '1' : '',
    KILL_BATCH: String(killAt?.batch ?? ''),
    KILL_FILE: String(killAt?.file ?? ''),
  });
}

export function verify(scenario: Scenario, run: CiRun, url: string, folder: string): Promise<Exit> {
  mkdirSync(folder, { recursive: true });
  const retries = String(run.jobs[0]!.retries);
  return spawnJob([process.execPath, MAIN, 'verify'], folder, { ...environment(scenario, run, url, null), BALLAST_RETRIES: retries }).exit;
}

/** Asks for a proof of the list of the first job. */
export function askForProof(scenario: Scenario, run: CiRun, url: string, folder: string): Promise<Exit> {
  const [job] = run.jobs as [Job];
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'list.txt'), listText(job));
  return spawnJob(['sh', '-c', `exec "$BALLAST_NODE" "$BALLAST_MAIN" proved --stdin < list.txt`], folder, {
    ...environment(scenario, run, url, null),
    ...checkOut(run, false, folder),
    BALLAST_NODE: process.execPath,
    BALLAST_MAIN: MAIN,
    BALLAST_RETRIES: String(job.retries),
  }).exit;
}

const listText = ({ files }: Job): string => files.map(path => `${path}\n`).join('');

function spawnJob([program, ...args]: readonly string[], cwd: string, env: NodeJS.ProcessEnv): RunningJob {
  const child = killAtExit(spawn(program!, args, { cwd, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] }));
  const kill = (signal: NodeJS.Signals) => {
    try {
      process.kill(-child.pid!, signal);
    } catch {
      // The process has exited already.
    }
  };
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text: string) => (output += text));
  const exit = new Promise<Exit>((resolve, reject) => {
    const guard = setTimeout(() => {
      resolve({ code: null, output });
      kill('SIGKILL');
    }, HANG_TIMEOUT_MILLISECONDS);
    child.once('error', reject);
    // Wait for exit, not close: children of a killed client may keep its output open.
    child.once('exit', (code, signal) => {
      clearTimeout(guard);
      setImmediate(() => resolve({ code: code ?? signalExitCode(signal!), output }));
    });
  });
  return { exit, kill };
}
