import { setTimeout as sleep } from 'node:timers/promises';
import { pluralize } from '../../base/plural.js';
import { signalExitCode } from '../../base/signals.js';
import { abbreviate, print, printToStderr } from '../../base/terminal.js';
import { faultText, UsageError } from '../../base/usage-error.js';
import { detectSystem, type Identity, identify, wholeIdentity } from '../../node/ci/identity.js';
import { type ToldByNode, toldByNode } from '../../node/ci/told-by-node.js';
import { Api, RequestRejected, ServerUnreachable } from '../../node/client/api.js';
import type { BatchResult, FailurePolicy, RecordedFile } from '../../node/client/batch-results.js';
import { commandDigest } from '../../node/client/command/command-line.js';
import { CommandRunner } from '../../node/client/command/command-runner.js';
import { assertTestsRan, NoTestRan, OtherAnswer } from '../../node/client/completeness.js';
import { fallbackFiles, fallbackWarning, noFallbackMessage } from '../../node/client/fallback.js';
import { ListMismatch } from '../../node/client/list-mismatch.js';
import { CommandNotStarted, hungText, NodeRun } from '../../node/client/node-run.js';
import type { PlannedFile } from '../../node/client/planned-file.js';
import { PROOF_MAX_AGE_SECONDS } from '../../node/client/proof.js';
import { type Batch, QueueClient, type QueueEvents, type QueueWishes } from '../../node/client/queue-client.js';
import { recordRun } from '../../node/client/record-run.js';
import { listTestFiles } from '../../node/client/test-files.js';
import type { TimeLimitOption } from '../../node/client/time-limit.js';
import { mutedLine, readMutes } from '../../node/mutes/mutes.js';
import { pieceSupport } from '../../node/pieces/runners.js';
import type { ProvedPart } from '../../protocol/answers/completeness.js';
import type { QueueOrder } from '../../protocol/messages/queue.js';
import { exitCodes } from '../process/exit.js';
import type { ClientOptions, ListOptions } from './options.js';
import { batchLine, batchTable, type RanBatch } from './text/batch-table.js';
import { cuttingLine, endLine, leftOutLine, startLine } from './text/queue-forecast.js';

export interface QueueOptions extends ClientOptions, ListOptions, FailurePolicy, TimeLimitOption {
  /** Globs of the reports that the command writes. */
  junit: readonly string[];
  /** Run long files in pieces. */
  pieces?: true;
  order?: QueueOrder;
  /** Leave out the test files that CI runs of the tree proved. */
  proved?: true;
  /** Seconds since these began, at most. */
  maxAge?: number;
  /** Retry test files that failed, each once, on another node or this one. */
  retryFailed?: true;
  /** A test file that passes in its retry does not fail the node. */
  flakyPasses?: true;
}

/** Time to wait for the server after a signal. CI systems kill the process some seconds after it. */
const SHUTDOWN_MILLISECONDS = 4000;

/** Runs a command for each batch of the queue, then records the times. Sets the exit code. */
export async function queue(globs: readonly string[], command: readonly string[], options: QueueOptions): Promise<void> {
  if (command.length === 0) throw new UsageError(['no command: give it after --, as in: ballast queue "test/**/*.test.js" -- npx jest {}']);
  checkRetries(options);
  const mutes = readMutes();
  const identity = identify(wholeIdentity, options);
  const allFiles = await listTestFiles(globs, options.stdin === true);
  const told = await toldByNode(options.environment, allFiles, options.proofKey);
  const runner = new CommandRunner();
  const pieces = options.pieces ? pieceSupport(command, options.junit, options.environment) : null;
  if (pieces && 'what' in pieces) throw new UsageError([faultText(pieces)]);
  const run = new NodeRun(allFiles, command, options.junit, options, runner, options.environment, pieces, mutes);
  const recordRemaining = () => exitCodeOf(() => record(run, identity, options));
  runner.start(options.environment.npm_command !== undefined);
  try {
    // After a signal, record at once: the CI system may not wait for the command to end.
    const recordedEarly = runner.interrupted.then(recordRemaining);
    // The server gives a batch to another node whose client left before its answer.
    const ending = new AbortController();
    const api = new Api({ ...options, signal: ending.signal });
    const own = { ...told, command_digest: commandDigest(command) };
    const abilities = { pieces: pieces?.name, retry_failed: options.retryFailed };
    const queueClient = new QueueClient(api, identity, allFiles, own, wishesOf(options, told), abilities);
    const cancelled = runner.interrupted.then(() => {
      ending.abort();
      return queueClient.cancel();
    });
    const batches: RanBatch[] = [];
    let recordCode: number = exitCodes.done;
    const recordAndWait = async () => {
      recordCode = await recordRemaining();
      if (recordCode !== exitCodes.done) return false;
      const retries = options.retryFailed && run.failed.size > 0 ? ', and for the retries of test files that failed here' : '';
      printToStderr(`no test file is left; waiting up to 5 minutes, longer if a node is silent, for files of nodes that die${retries}`);
      return true;
    };
    const code = await exitCodeOf(() => runBatches(run, queueClient, options, batches, recordAndWait));
    const unlessShutdown = (work: Promise<number>) =>
      Promise.race([work, runner.interrupted.then(() => sleep(SHUTDOWN_MILLISECONDS, exitCodes.server))]);
    recordCode ||= await unlessShutdown(recordRemaining());
    if (runner.signal) {
      await unlessShutdown(recordedEarly);
      await cancelled;
      printToStderr(`ended by ${runner.signal}`);
      // A request may still wait for its answer: do not wait for it.
      process.exit(signalExitCode(runner.signal));
    }
    if (batches.length > 0) printToStderr(...batchTable(batches));
    const failed = run.failures;
    if (failed.length > 0) printToStderr(`failed: ${abbreviate(failed)}`);
    if (run.passedAgain.size > 0) printToStderr(flakyLine([...run.passedAgain], options, failed.length === 0));
    if (run.muted.size > 0) printToStderr(mutedLine(mutes, [...run.muted]));
    if (run.hung.size > 0) printToStderr(`hung: ${abbreviate(Array.from(run.hung, file => hungText(...file)))}`);
    const hasPassed = !run.hasFailed || (options.flakyPasses === true && failed.length === 0);
    process.exitCode = code || (hasPassed ? recordCode : exitCodes.failed);
  } finally {
    run.end();
    runner.stop();
  }
}

function checkRetries({ retryFailed, flakyPasses, junit }: QueueOptions): void {
  if (flakyPasses && !retryFailed) throw new UsageError(['--flaky-passes is for --retry-failed: give both, or neither']);
  if (retryFailed && junit.length === 0)
    throw new UsageError(['--retry-failed needs the reports that the command writes, which tell what failed: name them with --junit']);
}

/** @param areAll no other test file failed */
function flakyLine(paths: readonly string[], { flakyPasses }: QueueOptions, areAll: boolean): string {
  const hint = flakyPasses
    ? 'this does not fail the node (--flaky-passes)'
    : 'this fails the node all the same; --flaky-passes lets it pass';
  return `flaky: ${abbreviate(paths)} failed here, and passed when retried${areAll ? `; ${hint}` : ''}`;
}

function wishesOf({ order, proved, maxAge }: QueueOptions, { tree, tree_doubt }: ToldByNode): QueueWishes {
  if (maxAge !== undefined && !proved) throw new UsageError(['--max-age is for --proved: give both, or neither']);
  const doubt = tree === undefined ? `the tree is not known: ${tree_doubt}` : tree_doubt;
  if (proved && doubt !== undefined) printToStderr(`--proved leaves out nothing, because the files may differ from a tree: ${doubt}`);
  return { ...(order && { order }), ...(proved && { proved_max_age: maxAge ?? PROOF_MAX_AGE_SECONDS }) };
}

/**
 * Runs all batches of the node, and adds each to `batches`. Without the server and with --fallback, runs all files that the node has not run.
 *
 * @param standBy records what ran; returns whether to wait for the files of a node that dies
 */
async function runBatches(
  run: NodeRun,
  queueClient: QueueClient,
  options: QueueOptions,
  batches: RanBatch[],
  standBy: () => Promise<boolean>,
): Promise<void> {
  const { runner } = run;
  const { identity, allFiles } = queueClient;
  const unlessInterrupted = async (pulled: Promise<Batch | null>) => {
    const batch = pulled.catch(error => {
      if (runner.signal) return null;
      throw error;
    });
    return Promise.race([batch, runner.interrupted.then(() => null)]);
  };
  const ran = new Set<string>();
  let leavesOut = false;
  const leftOut = (proved: ProvedPart) => {
    leavesOut = true;
    printToStderr(leftOutLine(proved));
  };
  const events: QueueEvents = {
    standBy,
    leftOut,
    passedAgain(paths) {
      for (const path of paths) if (run.failed.has(path)) run.passedAgain.add(path);
    },
    recorded: last => run.keepRecorded(last.files.map(({ path }) => path)),
  };
  const runBatch = async (files: PlannedFile[], isRetry = false): Promise<BatchResult> => {
    const number = run.commandCount + 1;
    printToStderr(isRetry ? `batch ${number}: retries ${files[0]!.path}, which failed` : batchLine(number, files));
    const before = performance.now();
    const result = await run.runBatch(files, isRetry);
    batches.push({ number, files, seconds: secondsSince(before), failed: result.failed.length });
    return result;
  };
  try {
    let batch = await unlessInterrupted(queueClient.firstBatch(events));
    const forecast = batch?.forecast ?? null;
    const startedAt = Date.now();
    const began = performance.now();
    let seconds = 0;
    if (forecast) printToStderr(startLine(forecast, startedAt));
    while (batch && !runner.signal) {
      const result = await runBatch(batch.files, batch.isRetry);
      seconds = secondsSince(began);
      for (const { path } of batch.files) ran.add(path);
      const next = runner.signal ? null : await unlessInterrupted(queueClient.nextBatch(batch, result, events));
      if (runner.signal) {
        // The server may not know yet what passed.
        await queueClient.cancel({ batch, failed: result.failed });
        return;
      }
      batch = next;
    }
    const lines = forecast && !runner.signal ? [endLine(forecast, startedAt, seconds), cuttingLine(forecast)] : [];
    for (const line of lines) if (line !== null) printToStderr(line);
  } catch (error) {
    if (!(error instanceof ServerUnreachable)) throw error;
    const files = fallbackFiles(allFiles, ran);
    const count = allFiles.length - files.length;
    const progress = `the rest of the queue is not known; this node ran ${count} of ${pluralize(allFiles.length, 'test file')}`;
    if (!options.fallback) throw new ServerUnreachable(noFallbackMessage(error, progress), { cause: error });
    printToStderr(...fallbackWarning(error, files.length, allFiles.length));
    if (files.length > 0 && !runner.signal) await runBatch(files.map(path => ({ path, expected: null })));
    return;
  }
  if (run.commandCount > 0 || runner.signal) return;
  if (!leavesOut && detectSystem(options.environment).isRerun?.(options.environment)) warnOfEmptyRerun(options.environment);
  else {
    const remedy = `${leavesOut ? 'omit --proved, and ' : ''}give another --build-id`;
    const node = `node ${identity.node_index} of ${identity.node_total}`;
    printToStderr(`nothing is left to run for ${node} in this CI run (to run all again, ${remedy})`);
  }
  // An empty run shows the completeness gate that the node started and ended.
  await recordFiles([], options.retries, identity, options);
  await assertAnyTestRan([], identity, options);
}

/** No CI system tells whether all jobs run again, or only those that failed. */
function warnOfEmptyRerun({ GITHUB_ACTIONS }: NodeJS.ProcessEnv): void {
  const warning =
    'WARNING: nothing was run again: an earlier attempt of this CI run left nothing to run for this node; to run all tests again, start a new CI run, or give each attempt another --build-id';
  printToStderr(warning);
  // GitHub shows it in the summary of the run.
  if (GITHUB_ACTIONS) print(`::warning title=Ballast::${warning}`);
}

/** Records the files that were run and are not recorded yet. */
async function record(run: NodeRun, identity: Identity, options: QueueOptions): Promise<void> {
  const { runner } = run;
  // A node that is taken away may be ignored: the gate is to miss what failed on it.
  const recorded = run.takeRecorded().filter(({ path }) => runner.signal === null || !run.failed.has(path));
  // After a signal there is no time for retries.
  if (recorded.length > 0) await recordFiles(recorded, runner.signal ? 0 : options.retries, identity, options);
  if (recorded.length === 0 || runner.signal !== null) return;
  await run.testCases.tell(new Api(options), identity);
  await assertAnyTestRan(recorded, identity, options);
}

/** Throws NoTestRan if no test ran in the whole CI run. With --fallback, nobody needs to know. */
async function assertAnyTestRan(recorded: readonly RecordedFile[], identity: Identity, options: QueueOptions): Promise<void> {
  try {
    await assertTestsRan(new Api(options), identity, { node_build_id: identity.build_id }, recorded);
  } catch (error) {
    if (!(error instanceof ServerUnreachable) || !options.fallback) throw error;
    printToStderr(`WARNING: ${error.message}`);
  }
}

async function recordFiles(recorded: readonly RecordedFile[], retries: number, identity: Identity, options: QueueOptions): Promise<void> {
  try {
    await recordRun(new Api(options), identity, recorded, { retries });
  } catch (error) {
    if (!(error instanceof ServerUnreachable)) throw error;
    if (!options.fallback)
      throw new ServerUnreachable(`${error.message}; the times of ${pluralize(recorded.length, 'test file')} are not recorded`, {
        cause: error,
      });
    printToStderr(`WARNING: the times of ${pluralize(recorded.length, 'test file')} are not recorded: ${error.message}`);
  }
}

/** Returns 0, or the exit code of an expected error, which it prints. */
async function exitCodeOf(work: () => Promise<void>): Promise<number> {
  try {
    await work();
    return exitCodes.done;
  } catch (error) {
    if (!isExpected(error)) throw error;
    printToStderr(error.message);
    return error.exitCode;
  }
}

function isExpected(error: unknown): error is Error & { exitCode: number } {
  return [CommandNotStarted, RequestRejected, ServerUnreachable, ListMismatch, NoTestRan, OtherAnswer].some(kind => error instanceof kind);
}

/** @param before a time of `performance.now` */
function secondsSince(before: number): number {
  return (performance.now() - before) / 1000;
}
