import { setTimeout as sleep } from 'node:timers/promises';
import { Api, RequestRejected, ServerUnreachable } from '../client/api.js';
import type { FailurePolicy, RecordedFile } from '../client/batch-results.js';
import { type Identity, identify } from '../client/ci/identity.js';
import { CommandRunner, signalExitCode } from '../client/command-runner.js';
import { fallbackFiles, fallbackWarning, noFallbackMessage } from '../client/fallback.js';
import { gitCheckout } from '../client/git.js';
import { ListMismatch } from '../client/list-mismatch.js';
import { CommandNotStarted, NodeRun } from '../client/node-run.js';
import { type Batch, QueueClient } from '../client/queue-client.js';
import { recordRun } from '../client/record-run.js';
import { listTestFiles } from '../client/test-files.js';
import { UsageError } from '../client/usage-error.js';
import { abbreviate, pluralize, printToStderr } from '../terminal.js';
import type { ClientOptions, ListOptions } from './client-options.js';
import { exitCodes } from './process/exit-codes.js';

export interface QueueOptions extends ClientOptions, ListOptions, FailurePolicy {
  /** Globs of the reports that the command writes. */
  junit: readonly string[];
}

/** Behind a signal an answer of the server is waited for no longer: who sends one kills some seconds later. */
const SHUTDOWN_MILLISECONDS = 4000;

/** Runs a command for each batch of the queue, then records. Sets the exit code. */
export async function queue(globs: readonly string[], command: readonly string[], options: QueueOptions): Promise<void> {
  if (command.length === 0)
    throw new UsageError(['no command: give it behind --, as in: ballast queue "test/**/*.test.js" -- npx jest {}']);
  const identity = identify(
    ['node_index', 'node_total', 'build_id', 'branch', 'commit_hash'],
    options,
    options.environment,
    gitCheckout('.'),
  );
  const all = await listTestFiles(globs, options.stdin === true);
  const runner = new CommandRunner();
  const run = new NodeRun(all, command, options.junit, options, runner, options.environment);
  const recordRest = () => exitCodeOf(() => record(run, runner, identity, options));
  runner.start(options.environment.npm_command !== undefined);
  try {
    // At once: who sends a signal may not wait for the command to end.
    const early = runner.interrupted.then(recordRest);
    const code = await exitCodeOf(() => runBatches(run, runner, identity, all, options));
    const soon = (work: Promise<number>) =>
      Promise.race([work, runner.interrupted.then(() => sleep(SHUTDOWN_MILLISECONDS, exitCodes.server))]);
    const recorded = await soon(recordRest());
    if (runner.signal) {
      await soon(early);
      printToStderr(`ended by ${runner.signal}`);
      // What was asked of the server when the signal came is not waited for.
      process.exit(signalExitCode(runner.signal));
    }
    if (run.failed.length > 0) printToStderr(`failed: ${abbreviate(run.failed)}`);
    process.exitCode = code || (run.hasFailed ? exitCodes.failed : recorded);
  } finally {
    runner.stop();
  }
}

/** Runs all batches of the node; with --fallback and without the server, all files that it has not run. */
async function runBatches(
  run: NodeRun,
  runner: CommandRunner,
  identity: Identity,
  all: readonly string[],
  options: QueueOptions,
): Promise<void> {
  const server = new QueueClient(new Api(options), identity, all);
  const unlessInterrupted = (asked: Promise<Batch | null>) => Promise.race([asked, runner.interrupted.then(() => null)]);
  const ran = new Set<string>();
  try {
    let batch = await unlessInterrupted(server.firstBatch());
    while (batch && !runner.signal) {
      const result = await run.runBatch(batch.files);
      if (runner.signal) return;
      for (const { path } of batch.files) ran.add(path);
      batch = await unlessInterrupted(server.nextBatch(batch, result));
    }
  } catch (error) {
    if (!(error instanceof ServerUnreachable)) throw error;
    if (!options.fallback)
      throw new ServerUnreachable(
        noFallbackMessage(error, `what is left to run is not known; this node ran ${ran.size} of ${pluralize(all.length, 'test file')}`),
        { cause: error },
      );
    const files = fallbackFiles(all, ran);
    printToStderr(...fallbackWarning(error, files.length, all.length));
    if (files.length > 0 && !runner.signal) await run.runBatch(files.map(path => ({ path, expected: null })));
    return;
  }
  if (run.commandCount > 0 || runner.signal) return;
  printToStderr(
    `nothing is left to run for node ${identity.node_index} of ${identity.node_total} in this CI run (to run all again, give another --build-id)`,
  );
  // It tells the gate that the node started and ended.
  await recordFiles([], options.retries, identity, options);
}

/** Records what was run and is not recorded yet, also when the rest was not. */
async function record(run: NodeRun, runner: CommandRunner, identity: Identity, options: QueueOptions): Promise<void> {
  const recorded = run.takeRecorded();
  // A process that got a signal has a few seconds left.
  if (recorded.length > 0) await recordFiles(recorded, runner.signal ? 0 : options.retries, identity, options);
}

/** Throws Unreachable when the server cannot be reached and there is no fallback. */
async function recordFiles(recorded: readonly RecordedFile[], retries: number, identity: Identity, options: QueueOptions): Promise<void> {
  try {
    await recordRun(new Api(options), identity, recorded, retries);
  } catch (error) {
    if (!(error instanceof ServerUnreachable)) throw error;
    if (!options.fallback)
      throw new ServerUnreachable(`${error.message}; the times of ${pluralize(recorded.length, 'test file')} are not recorded`, {
        cause: error,
      });
    printToStderr(`WARNING: the times of ${pluralize(recorded.length, 'test file')} are not recorded: ${error.message}`);
  }
}

/** What the process is to end with when this fails, which is said; 0 when it does not. */
async function exitCodeOf(work: () => Promise<void>): Promise<number> {
  try {
    await work();
    return exitCodes.done;
  } catch (error) {
    if (
      !(
        error instanceof CommandNotStarted ||
        error instanceof RequestRejected ||
        error instanceof ServerUnreachable ||
        error instanceof ListMismatch
      )
    )
      throw error;
    printToStderr(error.message);
    return error instanceof CommandNotStarted ? error.exitCode : error.exitCode;
  }
}
