import { setTimeout as sleep } from 'node:timers/promises';
import { Api, Refused, Unreachable } from '../client/api.js';
import type { Judgement, RecordedFile } from '../client/batch-results.js';
import { type Identity, identify } from '../client/ci/identity.js';
import { codeOfSignal, Runner } from '../client/command.js';
import { fallbackWarning, filesOfFallback, noFallback } from '../client/fallback.js';
import { checkoutOf } from '../client/git.js';
import { NodeRun, NotStarted } from '../client/node-run.js';
import { type Batch, QueueServer } from '../client/queue-server.js';
import { recordRun } from '../client/record-run.js';
import { ListDiffers } from '../client/same-list.js';
import { testFiles } from '../client/test-files.js';
import { UsageError } from '../client/usage-error.js';
import { counted, named, say } from '../terminal.js';
import type { ClientOptions, ListOptions } from './client-options.js';
import { exitCodes } from './process/exit-codes.js';

export interface QueueOptions extends ClientOptions, ListOptions, Judgement {
  /** Globs of the reports that the command writes. */
  junit: readonly string[];
}

/** Behind a signal an answer of the server is waited for no longer: who sends one kills some seconds later. */
const LAST_MILLISECONDS = 4000;

/** Runs a command for each batch of the queue, then records. Sets the exit code. */
export async function queue(globs: readonly string[], command: readonly string[], options: QueueOptions): Promise<void> {
  if (command.length === 0)
    throw new UsageError(['no command: give it behind --, as in: ballast queue "test/**/*.test.js" -- npx jest {}']);
  const identity = identify(
    ['node_index', 'node_total', 'build_id', 'branch', 'commit_hash'],
    options,
    options.environment,
    checkoutOf('.'),
  );
  const all = await testFiles(globs, options.stdin === true);
  const runner = new Runner();
  const run = new NodeRun(all, command, options.junit, options, runner, options.environment);
  const recordRest = () => codeOf(() => record(run, runner, identity, options));
  runner.start(options.environment.npm_command !== undefined);
  try {
    // At once: who sends a signal may not wait for the command to end.
    const early = runner.interrupted.then(recordRest);
    const code = await codeOf(() => runBatches(run, runner, identity, all, options));
    const soon = (work: Promise<number>) => Promise.race([work, runner.interrupted.then(() => sleep(LAST_MILLISECONDS, exitCodes.server))]);
    const recorded = await soon(recordRest());
    if (runner.signal) {
      await soon(early);
      say(`ended by ${runner.signal}`);
      // What was asked of the server when the signal came is not waited for.
      process.exit(codeOfSignal(runner.signal));
    }
    if (run.failed.length > 0) say(`failed: ${named(run.failed)}`);
    process.exitCode = code || (run.hasFailed ? exitCodes.failed : recorded);
  } finally {
    runner.stop();
  }
}

/** Runs all batches of the node; with --fallback and without the server, all files that it has not run. */
async function runBatches(run: NodeRun, runner: Runner, identity: Identity, all: readonly string[], options: QueueOptions): Promise<void> {
  const server = new QueueServer(new Api(options), identity, all);
  const unlessInterrupted = (asked: Promise<Batch | null>) => Promise.race([asked, runner.interrupted.then(() => null)]);
  const ran = new Set<string>();
  try {
    let batch = await unlessInterrupted(server.first());
    while (batch && !runner.signal) {
      const result = await run.run(batch.files);
      if (runner.signal) return;
      for (const { path } of batch.files) ran.add(path);
      batch = await unlessInterrupted(server.next(batch, result));
    }
  } catch (error) {
    if (!(error instanceof Unreachable)) throw error;
    if (!options.fallback)
      throw new Unreachable(
        noFallback(error, `what is left to run is not known; this node ran ${ran.size} of ${counted(all.length, 'test file')}`),
        { cause: error },
      );
    const files = filesOfFallback(all, ran);
    say(...fallbackWarning(error, files.length, all.length));
    if (files.length > 0 && !runner.signal) await run.run(files.map(path => ({ path, expected: null })));
    return;
  }
  if (run.commands > 0 || runner.signal) return;
  say(
    `nothing is left to run for node ${identity.node_index} of ${identity.node_total} in this CI run (to run all again, give another --build-id)`,
  );
  // It tells the gate that the node started and ended.
  await recordFiles([], options.retries, identity, options);
}

/** Records what was run and is not recorded yet, also when the rest was not. */
async function record(run: NodeRun, runner: Runner, identity: Identity, options: QueueOptions): Promise<void> {
  const recorded = run.takeRecorded();
  // A process that got a signal has a few seconds left.
  if (recorded.length > 0) await recordFiles(recorded, runner.signal ? 0 : options.retries, identity, options);
}

/** Throws Unreachable when the server cannot be reached and there is no fallback. */
async function recordFiles(recorded: readonly RecordedFile[], retries: number, identity: Identity, options: QueueOptions): Promise<void> {
  try {
    await recordRun(new Api(options), identity, recorded, retries);
  } catch (error) {
    if (!(error instanceof Unreachable)) throw error;
    if (!options.fallback)
      throw new Unreachable(`${error.message}; the times of ${counted(recorded.length, 'test file')} are not recorded`, { cause: error });
    say(`WARNING: the times of ${counted(recorded.length, 'test file')} are not recorded: ${error.message}`);
  }
}

/** What the process is to end with when this fails, which is said; 0 when it does not. */
async function codeOf(work: () => Promise<void>): Promise<number> {
  try {
    await work();
    return exitCodes.done;
  } catch (error) {
    if (!(error instanceof NotStarted || error instanceof Refused || error instanceof Unreachable || error instanceof ListDiffers))
      throw error;
    say(error.message);
    return error instanceof NotStarted ? error.code : error.exitCode;
  }
}
