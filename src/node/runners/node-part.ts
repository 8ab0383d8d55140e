import { writeSync } from 'node:fs';
import { agree, pluralize } from '../../base/plural.js';
import { END_SIGNALS } from '../../base/signals.js';
import { abbreviate, escapeControls, printToStderr } from '../../base/terminal.js';
import { UsageError } from '../../base/usage-error.js';
import { version } from '../../base/version.js';
import { detect, type Identity, type IdentityField, identify, identityFields, wholeIdentity } from '../ci/identity.js';
import type { Environment } from '../ci/systems.js';
import { toldByNode } from '../ci/told-by-node.js';
import { parseServer } from '../client/address.js';
import { Api, ServerUnreachable } from '../client/api.js';
import { mutedIn, type RecordedFile, recordedFile, withFailure, withMutes } from '../client/batch-results.js';
import { assertTestsRan } from '../client/completeness.js';
import { estimateText, type PlannedFile } from '../client/planned-file.js';
import { recordRun } from '../client/record-run.js';
import { requestNodeFiles } from '../client/split.js';
import { assertSplitExists } from '../client/split-state.js';
import { type Mute, Mutes, mutedLine, readMutes } from '../mutes/mutes.js';
import type { FileResult } from '../reports/report-results.js';

export type RunnerName = 'jest' | 'playwright' | 'vitest';

/** A shard as test runners count it: --shard=1/4 is the first of four. */
export interface Shard {
  /** From 1. */
  index: number;
  count: number;
}

/** State with which another process records the part of a node. */
export interface PartState {
  runner: RunnerName;
  identity: Identity;
  files: readonly PlannedFile[];
  isFallback: boolean;
  mutes: readonly Mute[];
}

/** The test runner ended without running files of this node, so they may not have run anywhere. */
class FilesNotRun extends Error {}

const RETRIES = 3;
/** CI systems kill a process 7.5 s after its signal, or later. */
const ENDING_SECONDS = 5;
const FALLBACK = 'BALLAST_FALLBACK';
const fallbackWish = { name: FALLBACK, asVerb: `set ${FALLBACK}=true` };

/** The test files that this node runs of all that the test runner found. */
export class NodePart {
  readonly #api: Api;
  readonly #positions: ReadonlyMap<string, number>;
  readonly #mutes: Mutes;

  /** Throws a UsageError if the environment has no usable address or token of a server. */
  constructor(
    readonly state: PartState,
    environment: Environment,
  ) {
    this.#api = apiOf(state.runner, environment);
    this.#mutes = new Mutes(state.mutes);
    this.#positions = new Map(state.files.map(({ path }, i) => [path, i]));
  }

  /**
   * Asks the server for the part of a shard. Without an answer and with BALLAST_FALLBACK, the part is the whole list. Throws if there is no
   * part: the node must then fail before it runs a test.
   * @param allFiles the files that the test runner found, by pathOf: the same on all nodes
   */
  static async request(runner: RunnerName, shard: Shard, allFiles: Iterable<string>, environment: Environment): Promise<NodePart> {
    try {
      return await NodePart.#request(runner, shard, allFiles, environment);
    } catch (error) {
      if (!(error instanceof Error && 'exitCode' in error)) throw error;
      // Test runners print the stack, the causes and all properties. They would hide the message.
      const told = new Error(`Ballast: ${error.message}`);
      told.stack = told.message;
      throw told;
    }
  }

  static async #request(runner: RunnerName, shard: Shard, allFiles: Iterable<string>, environment: Environment): Promise<NodePart> {
    const list = [...new Set(allFiles)].sort();
    if (list.length === 0) throw new UsageError(['the test runner found no test file, so there is nothing to split']);
    const mutes = readMutes().all;
    const identity = identityOf(shard, environment);
    const { files, isFallback } = await requestNodeFiles(apiOf(runner, environment), identity, list, {
      isDynamic: true,
      fallback: readFallback(environment),
      fallbackWish,
      told: await toldByNode(environment, list),
      undone: 'no test is run',
    });
    if (!isFallback) printToStderr(describePart(identity, files, list.length));
    return new NodePart({ runner, identity, files, isFallback, mutes }, environment);
  }

  get isEmpty(): boolean {
    return this.state.files.length === 0;
  }

  /** @param path of pathOf */
  has(path: string): boolean {
    return this.#positions.has(path);
  }

  /** Returns what belongs to this node, the slowest files first. Without the server the order stays. */
  select<T>(all: readonly T[], pathOfItem: (item: T) => string): T[] {
    const position = (item: T) => this.#positions.get(pathOfItem(item)) ?? 0;
    const own = all.filter(item => this.has(pathOfItem(item)));
    return this.state.isFallback ? own : own.sort((a, b) => position(a) - position(b));
  }

  /**
   * Records the times of this node. Throws if the server did not store them or no longer has the split, and if files of this node have no
   * result. Returns whether files failed, and the repository mutes all that failed.
   * @param results by pathOf, of the files that ran to their end
   * @param isEnding a signal ends the job: one attempt must do
   * @param hasFailed the test runner fails
   * @param hasOtherFailure something besides the tests of these files failed, or may have
   */
  async record(
    results: ReadonlyMap<string, FileResult>,
    { isEnding = false, hasFailed = false, hasOtherFailure = false } = {},
  ): Promise<boolean> {
    const paths = this.state.files.map(({ path }) => path);
    const ran = paths.flatMap(path => (results.has(path) ? [recordedFile(path, results.get(path)!)] : []));
    const isMuted = (path: string) => !hasOtherFailure && this.#isMuted(path, results.get(path)!);
    const recorded = withMutes(withFailure(ran, hasFailed), isMuted);
    if (recorded.length > 0) await this.#record(recorded, isEnding);
    const missing = paths.filter(path => !results.has(path));
    if (missing.length > 0)
      throw new FilesNotRun(
        `${missing.length} of ${pluralize(paths.length, 'test file')} of this node did not run to the end: ${abbreviate(missing)}; no time is recorded for ${agree(missing.length, 'it', 'them')}, and this node fails`,
      );
    const muted = mutedIn(recorded);
    if (muted.size > 0) printToStderr(mutedLine(this.#mutes, [...muted]));
    return muted.size > 0 && [...results].every(([path, { isFailed }]) => !isFailed || muted.has(path));
  }

  /** A file that could not be loaded has no test that is known. */
  #isMuted(path: string, { isFailed, hasRun, failures = [''] }: FileResult): boolean {
    const names = hasRun ? failures.map(name => ({ name, classname: '' })) : [];
    return isFailed && this.#mutes.cover(path, names);
  }

  async #record(recorded: readonly RecordedFile[], isEnding: boolean): Promise<void> {
    const { identity, isFallback } = this.state;
    const api = isEnding ? new Api({ ...this.#api.options, retries: 0, timeoutSeconds: ENDING_SECONDS }) : this.#api;
    try {
      await recordRun(api, identity, recorded);
      if (isEnding) return;
      await assertSplitExists(api, identity);
      await assertTestsRan(api, identity, { ci_build_id: identity.build_id }, recorded);
    } catch (error) {
      if (!(error instanceof ServerUnreachable)) throw error;
      const lost = `the times of ${pluralize(recorded.length, 'test file')} are not recorded`;
      if (!isFallback)
        throw new ServerUnreachable(`${error.message}; ${lost}. Run this node again when the server answers`, { cause: error });
      printToStderr(`WARNING: ${lost}: ${error.message}`);
    }
  }
}

/** The arguments of this process that are options or their values. */
export function options(): string[] {
  const end = process.argv.indexOf('--');
  return end < 0 ? process.argv : process.argv.slice(0, end);
}

/** A value of all copies of this module: Vite puts one into each configuration that imports it. */
export function sharedByCopies<T extends object>(name: string, initial: T): T {
  return ((globalThis as { [key: symbol]: unknown })[Symbol.for(`ballast.${name}`)] ??= initial) as T;
}

const said = sharedByCopies('said', { noShard: false });

/** Says once that the test runner runs everything itself, because it was given no shard. */
export function sayNoShard(): void {
  if (!said.noShard) printToStderr('without --shard, this process runs all its test files, and records no times');
  said.noShard = true;
}

/**
 * Makes this process end with 1 instead of 0 if there is a fault: a test, a hook, a configuration or a reporter may call process.exit.
 * @param faultAt gets the exit code, and returns the fault. Null: there is none; empty: it was printed before
 */
export function guardExit(faultAt: (code: number) => string | null): void {
  let fault: string | null | undefined;
  const judged = (code: number) => {
    if (fault === undefined) {
      fault = faultAt(code);
      // Jest ends by the package exit, which makes the streams ignore what is written.
      if (fault) writeSync(2, `ballast: ${escapeControls(fault)}\n`);
    }
    return code === 0 && fault !== null ? 1 : code;
  };
  process.once('exit', code => {
    process.exitCode = judged(code);
  });
  // A listener before this one may end the process, as that of Vitest 3 does: process.exit then calls no other listener.
  const ending = process as unknown as { reallyExit(code?: number): void };
  const reallyExit = ending.reallyExit.bind(process);
  ending.reallyExit = code => reallyExit(judged(code ?? 0));
}

/**
 * Records when a signal ends the job, and then lets the signal do what it would have done. A second signal does that at once.
 * @param record rejects if files of this node have not run to their end
 */
export function recordAtSignals(record: () => Promise<void>): void {
  // A listener of the test runner may end this process before the times are recorded.
  const listeners = END_SIGNALS.map(signal => [signal, process.rawListeners(signal) as NodeJS.SignalsListener[]] as const);
  const end = (signal: NodeJS.Signals) => {
    for (const [each, own] of listeners) {
      process.off(each, end);
      for (const listener of own) process.on(each, listener);
    }
    const recording = record().catch((error: unknown) => printToStderr((error as Error).message));
    void recording.then(() => process.kill(process.pid, signal));
  };
  for (const [signal] of listeners) {
    process.removeAllListeners(signal);
    process.on(signal, end);
  }
}

/** Message on a test runner that ended with 0 before it reported its results. */
export function endedEarly(runner: string): string {
  return `${runner} ended with exit code 0 before it reported its results, as if a test called process.exit: test files of this node may not have run, no times are recorded, and this node fails; remove the call from the tests, hooks and reporters`;
}

function describePart({ node_index, node_total }: Identity, files: readonly PlannedFile[], total: number): string {
  const node = `node ${node_index} of ${node_total}`;
  if (files.length === 0) return `${node} has nothing to run: there are more nodes than test files (${total})`;
  return `${node} runs ${files.length} of ${pluralize(total, 'test file')}${estimateText(files)}`;
}

function apiOf(runner: RunnerName, environment: Environment): Api {
  const { BALLAST_URL, BALLAST_TOKEN, BALLAST_RETRIES = '' } = environment;
  const unset = Object.entries({ BALLAST_URL, BALLAST_TOKEN }).flatMap(([name, value]) => (value?.trim() ? [] : [name]));
  if (unset.length > 0)
    throw new UsageError([
      `with --shard, Ballast chooses the test files of this node, but ${unset.join(' and ')} ${agree(unset.length, 'is', 'are')} not set: set BALLAST_URL and BALLAST_TOKEN on all nodes, or leave out --shard`,
    ]);
  if (!/^\d{0,6}$/.test(BALLAST_RETRIES))
    throw new UsageError([`BALLAST_RETRIES is ${JSON.stringify(BALLAST_RETRIES)}: it must be a whole number`]);
  const { url, token } = parseServer({ url: BALLAST_URL!, token: BALLAST_TOKEN! });
  return new Api({
    url,
    token,
    retries: BALLAST_RETRIES === '' ? RETRIES : Number(BALLAST_RETRIES),
    clientName: `ballast-${runner}`,
    clientVersion: version,
  });
}

function readFallback(environment: Environment): boolean {
  const text = environment[FALLBACK]?.trim() ?? '';
  if (/^(true|1)$/.test(text)) return true;
  if (/^(false|0|)$/.test(text)) return false;
  throw new UsageError([`${FALLBACK} is ${JSON.stringify(text)}: it must be true or false`]);
}

/** The node that a shard is. Throws a UsageError if the shard contradicts Ballast's variables or the numbers of the CI system. */
function identityOf(shard: Shard, environment: Environment): Identity {
  const values = { nodeIndex: String(shard.index - 1), nodeTotal: String(shard.count) };
  const given = (field: IdentityField) => environment[identityFields[field].variable]?.trim() || undefined;
  for (const field of ['nodeIndex', 'nodeTotal'] as const) {
    const value = given(field);
    if (value !== undefined && value !== values[field])
      throw contradiction(shard, `${identityFields[field].variable} is ${value}: leave it out, or set it to ${values[field]}`);
  }
  const [total, index] = [detect('nodeTotal', environment), detect('nodeIndex', environment)];
  // Jobs of other numbers may be other things than the shards. With the same number, two jobs would run one shard, and none another.
  if (given('nodeIndex') === undefined && index && total?.value === values.nodeTotal && index.value !== values.nodeIndex)
    throw contradiction(
      shard,
      `${index.variable} is ${index.text}, job ${Number(index.value) + 1} of ${total.value}: give --shard=${Number(index.value) + 1}/${total.value}, or set ${identityFields.nodeIndex.variable}=${values.nodeIndex} to keep your order`,
    );
  try {
    const others = (['buildId', 'branch', 'commitHash'] as const).map(field => [field, given(field) ?? '']);
    return identify(wholeIdentity, { ...values, ...Object.fromEntries(others), environment });
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    // Test runners have no flags for these.
    throw new UsageError(error.errors.map(text => text.replace(/give --\S+ <\S+> or set /, 'set ')));
  }
}

function contradiction({ index, count }: Shard, reason: string): UsageError {
  return new UsageError([`--shard=${index}/${count} is node ${index - 1} of ${count}, counted from 0, but ${reason}`]);
}
