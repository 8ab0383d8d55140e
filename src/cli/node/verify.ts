import { setTimeout as sleep } from 'node:timers/promises';
import { pluralize } from '../../base/plural.js';
import { abbreviate, print, printData, printToStderr } from '../../base/terminal.js';
import { UsageError } from '../../base/usage-error.js';
import { detectValue, type Identity, identify, missingMessage } from '../../node/ci/identity.js';
import type { ReceivedCompleteness } from '../../node/client/answers.js';
import { Api } from '../../node/client/api.js';
import { type AskedCiRun, askCompleteness, OtherAnswer } from '../../node/client/completeness.js';
import { emptyTest } from '../../node/client/test-files.js';
import { MUTES_FILE, readMutes } from '../../node/mutes/mutes.js';
import { exitCodes } from '../process/exit.js';
import type { ClientOptions } from './options.js';
import { comersOf, countOf, mutedOf } from './text/gate-text.js';
import {
  flakyFiles,
  githubAnnotations,
  githubError,
  githubFailure,
  junitOfFailure,
  junitReport,
  missingFiles,
} from './text/verify-formats.js';

export interface VerifyOptions extends ClientOptions {
  nodeBuildId?: string;
  ciBuildId?: string;
  /** Ask about the newest queue or split of the build, of any CI run. */
  newest?: true;
  /** A file that was recorded with a time of 0 only counts as run. */
  allowEmpty?: true;
  /** Globs of files that may have nothing to run: they need not be recorded by a node that recorded others. */
  mayBeEmpty?: readonly string[];
  /** The most muted failures, of the CI run and in the file of the repository. */
  maxMuted?: number;
  /** A flaky file that is new to the default branch fails the gate. */
  failOnFlaky?: 'new';
  /** Seconds to wait for the build to be complete. */
  wait: number;
  format: 'text' | 'github' | 'junit';
  json?: true;
}

/** Asks about an id, and has the server wait up to some seconds for the build to be complete. */
type Ask = (id: AskedCiRun, wait: number) => Promise<ReceivedCompleteness>;

/** Proxies give up on requests that wait longer. */
const MAX_WAIT_SECONDS = 25;
const PAUSE_MILLISECONDS = 1000;
const MAX_FILES_SHOWN = 20;

/**
 * Asks a server whether every test file of a CI run was recorded. Exit code 0: yes; 1: no, the CI run is not known, more failures are
 * muted than may be, a new file is flaky that may not be, or the answer is about another CI run; 3: the request failed.
 */
export async function verify(options: VerifyOptions): Promise<void> {
  const lines = readMutes().all.length;
  const deadline = performance.now() + options.wait * 1000;
  // A CI run tells the number of its nodes. The job of the gate may have another one: it is no node.
  const needsTotal = options.newest || Boolean(options.nodeTotal);
  const wanted = ['branch', 'commit_hash', ...(needsTotal ? (['node_total'] as const) : [])] as const;
  const { node_total, branch, commit_hash }: Partial<Identity> = identify(wanted, options);
  const build = { commit_hash: commit_hash!, branch: branch!, ...(node_total !== undefined && { node_total: String(node_total) }) };
  const selection = selectIds(options);
  const api = new Api(options);
  const isEmpty = emptyTest(options.mayBeEmpty);
  const asked = { ...build, allow_empty: String(options.allowEmpty ?? false) };
  const ask: Ask = async (id, wait) => excuse(await askCompleteness(api, { ...asked, ...id }, wait), isEmpty);
  try {
    const { selected, isKnown } = await waitForAnswers(ask, selection, deadline);
    const incomplete = selected.find(({ is_complete }) => !is_complete);
    const excess = options.maxMuted === undefined ? null : excessOf(selected, lines, options.maxMuted);
    const areNewRefused = options.failOnFlaky === 'new';
    const refused = selected.flatMap(answer => flakyFiles(answer, areNewRefused)).filter(({ isRefused }) => isRefused);
    if (options.json) print(JSON.stringify(incomplete ?? selected[0]));
    else if (options.format === 'junit') printData(`${junitReport(selected, excess, areNewRefused)}\n`);
    else if (options.format === 'github')
      for (const line of selected.flatMap(answer => [
        ...summaryLines(answer),
        ...githubAnnotations(answer, options.environment, areNewRefused),
      ]))
        print(line);
    else for (const line of selected.flatMap(report)) print(line);
    if (excess !== null && options.format === 'github') print(githubError('Too many muted failures', excess));
    else if (excess !== null) printToStderr(excess);
    if (options.format !== 'github') for (const { path, fate } of refused) printToStderr(`flaky: ${path} (${fate})`);
    if (areNewRefused && selected.some(({ flaky, default_branch }) => flaky && default_branch === branch))
      printToStderr(`no flaky file is new on ${branch}, the default branch: --fail-on-flaky new refuses none`);
    if (!isKnown && !options.newest)
      printToStderr(
        `the server knows no queue and no split of this CI run (${describeIds(selection.ids)}); check that its nodes reach the server, or give --newest to ask about the newest queue or split of the build`,
      );
    process.exitCode = incomplete || excess !== null || refused.length > 0 ? exitCodes.failed : exitCodes.done;
  } catch (error) {
    const reason = `cannot tell whether the build is complete: ${(error as Error).message}`;
    printToStderr(reason);
    if (options.format === 'junit' && !options.json) printData(`${junitOfFailure(reason)}\n`);
    if (options.format === 'github') print(githubFailure(reason));
    process.exitCode = error instanceof OtherAnswer ? exitCodes.failed : exitCodes.server;
  }
}

interface Selection {
  ids: AskedCiRun[];
  /** True: all ids must be complete. False: an id may be unknown as a queue or as a split. */
  areAllRequired: boolean;
}

/**
 * Selects the queues and splits to ask about. All ids that were given are required. The id of the CI run, given or detected, may belong to a
 * queue, a split or both. Only --newest asks about another CI run: a complete one may have ended before this one began.
 */
function selectIds({ nodeBuildId: node_build_id, ciBuildId: ci_build_id, buildId, newest, environment }: VerifyOptions): Selection {
  const given: AskedCiRun[] = [...(node_build_id ? [{ node_build_id }] : []), ...(ci_build_id ? [{ ci_build_id }] : [])];
  if (newest) {
    if (given.length > 0 || buildId) throw new UsageError(['--newest cannot be combined with an id of the CI run: leave one of them out']);
    return { ids: [{}], areAllRequired: true };
  }
  if (given.length > 0) return { ids: given, areAllRequired: true };
  const ciRun = buildId || detectValue('buildId', environment);
  if (!ciRun)
    throw new UsageError([
      `${missingMessage('buildId', environment)}; or give --newest to ask about the newest queue or split of the build`,
    ]);
  return { ids: [{ node_build_id: ciRun }, { ci_build_id: ciRun }], areAllRequired: false };
}

/** Asks until the build is complete or the deadline has passed. Returns the answers that count. */
async function waitForAnswers(
  ask: Ask,
  { ids, areAllRequired }: Selection,
  deadline: number,
): Promise<{ selected: ReceivedCompleteness[]; isKnown: boolean }> {
  for (;;) {
    const answers: ReceivedCompleteness[] = [];
    for (const id of ids) answers.push(await ask(id, 0));
    const known = answers.filter(({ kind }) => kind !== null);
    const isKnown = known.length > 0;
    // An id that names neither a queue nor a split is reported once.
    const selected = areAllRequired ? answers : isKnown ? known : answers.slice(0, 1);
    const incomplete = selected.find(({ is_complete }) => !is_complete);
    const seconds = Math.floor((deadline - performance.now()) / 1000);
    if (!incomplete || seconds <= 0) return { selected, isKnown };
    await waitForChange(ask, ids[answers.indexOf(incomplete)]!, Math.min(MAX_WAIT_SECONDS, seconds));
  }
}

function describeIds(ids: readonly AskedCiRun[]): string {
  return [...new Set(ids.flatMap(({ node_build_id, ci_build_id }) => node_build_id ?? ci_build_id ?? []))].join(', ');
}

/** Says that more failures are muted than may be; null: that is not so. @param lines of the file of the repository */
function excessOf(answers: readonly ReceivedCompleteness[], lines: number, most: number): string | null {
  const failures = answers.reduce((sum, { muted_count = 0 }) => sum + muted_count, 0);
  const of = failures > most ? 'this CI run has' : `${MUTES_FILE} has`;
  const count = failures > most ? failures : lines;
  return count > most ? `${of} ${pluralize(count, 'muted failure')}, and --max-muted is ${most}: fix tests, and remove their lines` : null;
}

/** Resolves when the answer may have changed, or after some seconds. */
async function waitForChange(ask: Ask, id: AskedCiRun, seconds: number): Promise<void> {
  const before = performance.now();
  await ask(id, seconds);
  // A busy server may answer early.
  if (performance.now() - before < PAUSE_MILLISECONDS) await sleep(PAUSE_MILLISECONDS);
}

/** Counts files that may be empty as run, if nothing else is missing. */
function excuse(answer: ReceivedCompleteness, isEmpty: (path: string) => boolean): ReceivedCompleteness {
  const { test_files, recorded, handed_out_not_recorded, ran_not_recorded, recorded_without_time } = answer;
  const files = [...handed_out_not_recorded, ...(answer.about?.allow_empty ? [] : recorded_without_time)];
  const areAllNamed = recorded + files.length + ran_not_recorded.length === test_files && files.length > 0;
  if (!answer.may_be_empty || !areAllNamed || !files.every(({ path }) => isEmpty(path))) return answer;
  const warning = `${pluralize(files.length, 'test file')} that may be empty (--may-be-empty) counted as run: ${abbreviate(files.map(({ path }) => path))}`;
  return { ...answer, is_complete: true, errors: [], warnings: [...answer.warnings, warning] };
}

function report(answer: ReceivedCompleteness): string[] {
  const { is_complete, test_files, recorded, errors, warnings, about, ran_not_recorded, recorded_without_time } = answer;
  const missing = missingFiles(answer);
  // The server may truncate each list.
  const listed =
    ran_not_recorded.length + (about?.allow_empty ? 0 : recorded_without_time.length) + Math.min(MAX_FILES_SHOWN, missing.length);
  const more = is_complete ? 0 : test_files - recorded - listed;
  return [
    ...summaryLines(answer),
    ...errors.map(error => `error: ${error}`),
    ...missing.slice(0, MAX_FILES_SHOWN).map(({ path, fate }) => `  ${path}  (${fate})`),
    ...(more > 0 ? [`  and ${more} more (--json names more of them)`] : []),
    ...warnings.map(warning => `warning: ${warning}`),
    ...(recorded_without_time.length > 0
      ? [`  ${abbreviate(recorded_without_time.map(({ path }) => path))}  (recorded with a time of 0)`]
      : []),
  ];
}

function summaryLines(answer: ReceivedCompleteness): string[] {
  const muted = mutedOf(answer);
  const count = answer.kind ? countOf(answer) : '';
  const verdict = answer.is_complete ? `complete${count}${muted ? `: ${muted}` : ''}` : `incomplete${count}`;
  return [verdict, answer.is_complete ? null : muted && `muted failures: ${muted}`, comersOf(answer)].filter(line => line !== null);
}
