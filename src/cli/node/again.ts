import { existsSync } from 'node:fs';
import { agree, pluralize } from '../../base/plural.js';
import { signalExitCode } from '../../base/signals.js';
import { abbreviate, print, printToStderr } from '../../base/terminal.js';
import { UsageError } from '../../base/usage-error.js';
import { bisect } from '../../node/again/bisect.js';
import { type CiRunWork, parseWorkOrMiss } from '../../node/again/ci-run-work.js';
import { type NodeProcess, processesOf, type RanFile } from '../../node/again/node-processes.js';
import { gitCheckout } from '../../node/ci/git.js';
import { detectValue, findValue, identify } from '../../node/ci/identity.js';
import { parseBuildList } from '../../node/client/answers.js';
import { Api } from '../../node/client/api.js';
import { shellLine } from '../../node/client/command/command-line.js';
import { CommandRunner } from '../../node/client/command/command-runner.js';
import { NodeRun } from '../../node/client/node-run.js';
import { relativeToCwd } from '../../node/client/test-files.js';
import type { TimeLimitOption } from '../../node/client/time-limit.js';
import { fileOfPiece } from '../../protocol/piece-path.js';
import { fileOf } from '../../protocol/test-case.js';
import { exitCodes } from '../process/exit.js';
import type { ClientOptions } from './options.js';
import { batchLine } from './text/batch-table.js';

export interface AgainOptions extends ClientOptions, TimeLimitOption {
  /** Index of the node. */
  node: number;
  /** A test file that the node ran. */
  file?: string;
  /** Find what makes that file fail. */
  bisect?: true;
  /** Globs of the reports that the command writes. */
  junit: readonly string[];
}

/**
 * Prints the batches of a node of a CI run, runs them here, or finds the test file that makes another one fail. Records nothing. Sets the exit code.
 *
 * @param id of the build or CI run on the server; undefined: the newest CI run of the checkout
 */
export async function again(id: string | undefined, command: readonly string[], options: AgainOptions): Promise<void> {
  const { node, environment } = options;
  if (options.bisect && command.length === 0)
    throw new UsageError(['--bisect needs a command: give it after --, as in: ballast again --node 0 --bisect -- npx mocha {}']);
  const work = await askWork(id, options);
  if (work === null) return void (process.exitCode = exitCodes.failed);
  const processes = processesOf(work, node);
  if (processes.length === 0) {
    const others = work.nodes.filter(({ spans }) => spans.length > 0).map(({ node_index }) => String(node_index));
    throw new UsageError([`node ${node} got no test file in this CI run: give one of the nodes that did, ${abbreviate(others)}`]);
  }
  const file = options.file !== undefined ? relativeToCwd(options.file) : options.bisect ? onlyFailed(processes) : null;
  const at = file === null ? -1 : placeOf(file, work, node);
  warnOfOtherFiles(work, processes, file);
  printToStderr(`node ${node} of ${work.ci_run === null ? '' : `CI run ${work.ci_run}, `}commit ${work.commit_hash}`);
  const batches = processes.map((each, i) => ({ ...each, number: i + 1, files: i === at ? upTo(each.files, file!) : each.files }));
  const chosen = at < 0 ? batches : [batches[at]!];
  if (command.length === 0) {
    for (const batch of chosen) {
      printToStderr(describe(batch));
      print(shellLine([], pathsOf(batch.files)));
    }
    return;
  }
  const runner = new CommandRunner();
  const allFiles = [...new Set(work.paths.map(fileOfPiece))];
  const run = new NodeRun(allFiles, command, options.junit, { ...options, isolates: !options.bisect }, runner, environment);
  runner.start(environment.npm_command !== undefined);
  try {
    process.exitCode = options.bisect ? await bisectFile(run, processes.slice(0, at + 1), file!) : await repeat(run, chosen);
  } catch (error) {
    if (!(error instanceof NothingFound)) throw error;
    printToStderr(`nothing is found: ${error.message}`);
    process.exitCode = exitCodes.failed;
  } finally {
    run.end();
    runner.stop();
  }
}

/** Asks what the nodes of the CI run ran. Says so if it is not known, and returns null. */
async function askWork(id: string | undefined, options: AgainOptions): Promise<CiRunWork | null> {
  const ci_run = options.buildId || (id === undefined && detectValue('buildId', options.environment)) || '';
  const api = new Api(options);
  const queryOf = (fields: Record<string, string>) => new URLSearchParams(fields).toString();
  let builds = [{ id: id ?? '' }];
  let named = `with the id ${id}`;
  if (id === undefined) {
    const { commit_hash } = identify(['commit_hash'], options);
    // No branch is checked out where somebody looks at an old commit.
    const branch = findValue('branch', options, gitCheckout('.'))?.value ?? '';
    named = `of the commit ${commit_hash}${branch && `, branch ${branch}`}`;
    builds = (await api.get(`/v1/builds?${queryOf({ commit_hash, branch })}`, parseBuildList)).data;
  }
  for (const build of builds) {
    const work = await api.get(`/v1/builds/${encodeURIComponent(build.id)}/timeline?${queryOf({ ci_run })}`, parseWorkOrMiss);
    if (work !== 'none') return work;
  }
  printToStderr(
    `the server has no recorded build ${named}${ci_run && `, CI run ${ci_run}`}: give --commit-hash and --branch as the CI job has them, or the id in the address of its page`,
  );
  return null;
}

/** Returns the only file that failed on the node. */
function onlyFailed(processes: readonly NodeProcess[]): string {
  const files = processes.flatMap(each => each.files);
  const failed = [...new Set(pathsOf(files.filter(({ hasFailed }) => hasFailed)))];
  if (failed.length === 1) return failed[0]!;
  const isKnown = files.some(({ hasFailed }) => hasFailed !== null);
  const none = isKnown ? 'no test file failed on the node' : 'it is not known which test files of the node failed';
  throw new UsageError([
    `${failed.length > 1 ? `${failed.length} test files failed on the node: ${abbreviate(failed)}` : none}; name one with --file`,
  ]);
}

/** Returns the index of the process in which the file failed, or else of the first that ran it. */
function placeOf(file: string, work: CiRunWork, node: number): number {
  const isOf = ({ path }: RanFile) => path === file;
  const indexIn = (of: number, isWanted: (each: RanFile) => boolean) =>
    processesOf(work, of).findIndex(({ files }) => files.some(isWanted));
  const failed = indexIn(node, each => isOf(each) && each.hasFailed === true);
  const at = failed < 0 ? indexIn(node, isOf) : failed;
  if (at >= 0) return at;
  const other = work.nodes.find(({ node_index }) => indexIn(node_index, isOf) >= 0)?.node_index;
  throw new UsageError([
    `node ${node} did not run ${file}: ${other === undefined ? 'without --file, ballast again prints what it ran' : `give --node ${other}, which did`}`,
  ]);
}

/** Warns if the files here may be others than those of the CI run. Throws a UsageError if the file to repeat is missing, and others are not. */
function warnOfOtherFiles({ commit_hash }: CiRunWork, processes: readonly NodeProcess[], file: string | null): void {
  const head = gitCheckout('.').commitHash() ?? commit_hash;
  if (head !== commit_hash) printToStderr(`WARNING: the CI run tested the commit ${commit_hash}, and ${head} is checked out here`);
  const paths = [...new Set(processes.flatMap(({ files }) => pathsOf(files)))];
  const missing = paths.filter(path => !existsSync(path) && !existsSync(fileOf(path) ?? path));
  if (missing.length === 0) return;
  const count = `${missing.length} of ${pluralize(paths.length, 'test file')} ${agree(missing.length, 'does', 'do')} not exist in ${process.cwd()}: ${abbreviate(missing)}`;
  if (file !== null && missing.includes(file) && missing.length < paths.length)
    throw new UsageError([`cannot repeat ${file}: ${count}; check out the commit ${commit_hash}`]);
  printToStderr(`WARNING: ${count}; unless these are names of classes or packages, change to the folder of the CI job`);
}

type NumberedProcess = NodeProcess & { number: number };

function describe({ number, files, isPiece }: NumberedProcess): string {
  const failed = pathsOf(files.filter(({ hasFailed }) => hasFailed));
  return `${batchLine(number, files)}${isPiece ? '; a piece of it ran, and all of it is repeated' : ''}${failed.length > 0 ? `; failed in the CI run: ${abbreviate(failed)}` : ''}`;
}

const pathsOf = (files: readonly RanFile[]) => files.map(({ path }) => path);

const upTo = (files: readonly RanFile[], last: string) => files.slice(0, pathsOf(files).indexOf(last) + 1);

/** Runs the batches in their order. Returns the exit code. */
async function repeat(run: NodeRun, batches: readonly NumberedProcess[]): Promise<number> {
  for (const batch of batches) {
    printToStderr(describe(batch), shellLine(run.command, pathsOf(batch.files)));
    await run.runBatch(batch.files);
    exitIfEnded(run);
  }
  const passed = batches.flatMap(({ files }) => pathsOf(files.filter(({ path, hasFailed }) => hasFailed && !run.failed.has(path))));
  if (passed.length > 0) printToStderr(`failed in the CI run, and passed here: ${abbreviate(passed)}`);
  if (run.failed.size > 0) printToStderr(`failed: ${abbreviate([...run.failed])}`);
  return run.hasFailed ? exitCodes.failed : exitCodes.done;
}

/** What the runs of a command say does not show what makes a file fail. */
class NothingFound extends Error {}

/**
 * Finds the test files with which a file fails: among those before it in its process, or else among all that the node had until then, because some
 * runners choose the order themselves, and tests change more than their process. Returns the exit code.
 *
 * Throws NothingFound.
 *
 * @param processes the last one ran the file
 */
async function bisectFile(run: NodeRun, processes: readonly NodeProcess[], file: string): Promise<number> {
  const own = processes.at(-1)!.files;
  const earlier = processes.flatMap(({ files }) => files).filter(({ path }) => !pathsOf(own).includes(path));
  const all = [...new Map(earlier.map(each => [each.path, each])).values(), ...own];
  const before = upTo(own, file).slice(0, -1);
  const others = all.filter(({ path }) => path !== file);
  const inOrder = (files: readonly RanFile[]) => all.filter(each => each.path === file || files.includes(each));
  const fails = async (files: readonly RanFile[]) => {
    const name = `run ${run.commandCount + 1}: ${file} ${files.length === 0 ? 'alone' : `with ${pluralize(files.length, 'other test file')}`}`;
    printToStderr(name);
    const { failed } = await run.runBatch(inOrder(files));
    exitIfEnded(run);
    if (run.untold.has(file))
      throw new NothingFound(
        `no report of run ${run.commandCount} tells whether ${file} passed; see what the command printed, or leave out --junit to go by its exit code`,
      );
    const hasFailed = failed.includes(file);
    printToStderr(`${name} ${hasFailed ? 'failed' : 'passed'}`);
    return hasFailed;
  };
  const candidates = others.length > before.length ? [before, others] : [before];
  const found = await bisect(
    candidates.filter(({ length }) => length > 0),
    fails,
  );
  if (found === null) {
    printToStderr(
      `the failure does not come again here: ${file} passed alone, and with what the node ran before it (${pluralize(others.length, 'test file')})`,
    );
    return exitCodes.failed;
  }
  if (found.length === 0) printToStderr(`${file} fails alone: the order does not matter`);
  else {
    if (run.reportGlobs.length === 0) {
      const { failed } = await run.runBatch(found);
      exitIfEnded(run);
      const others = `${abbreviate(failed)} ${agree(failed.length, 'fails', 'fail')}`;
      if (failed.length > 0)
        throw new NothingFound(`${others} without ${file}, too, and an exit code does not tell which file failed; give --junit`);
    } else if (await fails([])) {
      throw new NothingFound(
        `${file} failed alone this time: it fails now and then, or after what a test left behind; let the command reset that first`,
      );
    }
    const names =
      found.length === 1
        ? found[0]!.path
        : `these ${found.length} test files, and with neither half of them: it takes several, or the failure does not come each time`;
    printToStderr(`${file} passes alone, and fails with ${names} (${run.commandCount} runs)`);
  }
  print(shellLine(run.command, pathsOf(inOrder(found))));
  return exitCodes.done;
}

/** Ends this process as the signal did that ended the command. */
function exitIfEnded({ runner }: NodeRun): void {
  if (runner.signal === null) return;
  printToStderr(`ended by ${runner.signal}`);
  process.exit(signalExitCode(runner.signal));
}
