import { setTimeout as sleep } from 'node:timers/promises';
import { type Completeness, completenessParser } from '../client/answers.js';
import { Api } from '../client/api.js';
import { detectValue, identify, missingMessage } from '../client/ci/identity.js';
import { gitCheckout } from '../client/git.js';
import { UsageError } from '../client/usage-error.js';
import { abbreviate, print, printToStderr } from '../terminal.js';
import type { ClientOptions } from './client-options.js';
import { exitCodes } from './process/exit-codes.js';

export interface VerifyOptions extends ClientOptions {
  nodeBuildId?: string;
  ciBuildId?: string;
  /** Ask about the newest queue or split of the build, of any CI run. */
  newest?: true;
  /** Seconds. */
  wait: number;
  json?: true;
}

/** The id of a queue or a split of the build; without both, the newest one is meant. */
type Id = { node_build_id?: string; ci_build_id?: string };

interface Build {
  commit_hash: string;
  branch: string;
  node_total: string;
}

/** One request waits no longer, because proxies give up on longer ones. */
const MAX_WAIT_SECONDS = 25;
const PAUSE_MILLISECONDS = 1000;
const MAX_FILES_SHOWN = 20;

/** Asks a server whether every test file of a CI run was recorded. Exit code 0: yes; 1: no, or the CI run is not known; 3: it could not be asked. */
export async function verify(options: VerifyOptions): Promise<void> {
  const until = performance.now() + options.wait * 1000;
  const { node_total, branch, commit_hash } = identify(
    ['node_total', 'branch', 'commit_hash'],
    options,
    options.environment,
    gitCheckout('.'),
  );
  const build = { commit_hash, branch, node_total: String(node_total) };
  const { ids, areAllMeant } = selectIds(options);
  const api = new Api(options);
  try {
    for (;;) {
      const answers: Completeness[] = [];
      for (const id of ids) answers.push(await ask(api, build, id, 0));
      const known = answers.filter(({ kind }) => kind !== null);
      // An id that names neither a queue nor a split is reported once.
      const meant = areAllMeant || known.length === 0 ? answers.slice(0, areAllMeant ? answers.length : 1) : known;
      const incomplete = meant.find(({ is_complete }) => !is_complete);
      const seconds = Math.floor((until - performance.now()) / 1000);
      if (incomplete && seconds > 0) {
        await waitForChange(api, build, ids[answers.indexOf(incomplete)]!, Math.min(MAX_WAIT_SECONDS, seconds));
        continue;
      }
      if (options.json) print(JSON.stringify(incomplete ?? meant[0]));
      else for (const line of meant.flatMap(report)) print(line);
      if (known.length === 0 && !options.newest)
        printToStderr(
          `the server knows no queue and no split of this CI run (${describeIds(ids)}); check that its nodes reach the server, or give --newest to ask about the newest queue or split of the build`,
        );
      process.exitCode = incomplete ? exitCodes.failed : exitCodes.done;
      return;
    }
  } catch (error) {
    printToStderr(`cannot tell whether the build is complete: ${(error as Error).message}`);
    // Not known is not the same as incomplete.
    process.exitCode = exitCodes.server;
  }
}

/**
 * The queues and splits to ask about. All that were named are meant. The id of the CI run, given or detected, may be that of a queue, of a
 * split or of both. Only --newest asks about another CI run: that one may have ended complete before this one began.
 */
function selectIds({ nodeBuildId: node_build_id, ciBuildId: ci_build_id, buildId, newest, environment }: VerifyOptions): {
  ids: Id[];
  areAllMeant: boolean;
} {
  const named: Id[] = [...(node_build_id ? [{ node_build_id }] : []), ...(ci_build_id ? [{ ci_build_id }] : [])];
  if (newest) {
    if (named.length > 0 || buildId) throw new UsageError(['--newest cannot be combined with an id of the CI run: leave one of them out']);
    return { ids: [{}], areAllMeant: true };
  }
  if (named.length > 0) return { ids: named, areAllMeant: true };
  const own = buildId || detectValue('buildId', environment);
  if (!own)
    throw new UsageError([
      `${missingMessage('buildId', environment)}; or give --newest to ask about the newest queue or split of the build`,
    ]);
  return { ids: [{ node_build_id: own }, { ci_build_id: own }], areAllMeant: false };
}

function describeIds(ids: readonly Id[]): string {
  return [...new Set(ids.flatMap(({ node_build_id, ci_build_id }) => node_build_id ?? ci_build_id ?? []))].join(', ');
}

/** Resolves when the answer may have changed. */
async function waitForChange(api: Api, build: Build, id: Id, seconds: number): Promise<void> {
  const before = performance.now();
  await ask(api, build, id, seconds);
  // A busy server may answer early.
  if (performance.now() - before < PAUSE_MILLISECONDS) await sleep(PAUSE_MILLISECONDS);
}

async function ask(api: Api, build: Build, id: Id, wait: number): Promise<Completeness> {
  const query = new URLSearchParams({ ...build, ...id, wait: String(wait) });
  const { node_build_id, ci_build_id } = id;
  const asked = node_build_id !== undefined ? 'queue' : ci_build_id !== undefined ? 'split' : null;
  return api.get(`/v1/builds/completeness?${query.toString()}`, completenessParser(asked), wait);
}

function report(answer: Completeness): string[] {
  const {
    is_complete,
    kind,
    test_files,
    recorded,
    ran_not_recorded = [],
    errors,
    warnings,
    never_handed_out,
    handed_out_not_recorded,
    recorded_without_time = [],
  } = answer;
  const missing = [
    ...handed_out_not_recorded.map(
      ({ path, node_index, handed_out_at }) => `${path}  (node ${node_index}${handed_out_at ? `, handed out at ${handed_out_at}` : ''})`,
    ),
    ...never_handed_out.map(({ path }) => `${path}  (never handed out)`),
  ];
  // Each list may be cut.
  const more = is_complete ? 0 : test_files - recorded - ran_not_recorded.length - Math.min(MAX_FILES_SHOWN, missing.length);
  return [
    kind
      ? `${is_complete ? 'complete' : 'incomplete'}: ${recorded} of ${test_files} test files of the ${kind} were recorded${ran_not_recorded.length > 0 ? ', others run and not recorded' : ''}`
      : 'incomplete',
    ...errors.map(error => `error: ${error}`),
    ...missing.slice(0, MAX_FILES_SHOWN).map(line => `  ${line}`),
    ...(more > 0 ? [`  and ${more} more (--json names more of them)`] : []),
    ...warnings.map(warning => `warning: ${warning}`),
    ...(recorded_without_time.length > 0
      ? [`  ${abbreviate(recorded_without_time.map(({ path }) => path))}  (recorded with a time of 0)`]
      : []),
  ];
}
