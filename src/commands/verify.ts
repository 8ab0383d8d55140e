import { setTimeout as sleep } from 'node:timers/promises';
import { type Completeness, completenessAnswer } from '../client/answers.js';
import { Api } from '../client/api.js';
import { detected, identify } from '../client/ci/identity.js';
import { checkoutOf } from '../client/git.js';
import { named, print, say } from '../terminal.js';
import type { ClientOptions } from './client-options.js';

export interface VerifyOptions extends ClientOptions {
  nodeBuildId?: string;
  ciBuildId?: string;
  /** Seconds. */
  wait: number;
  json?: true;
}

/** What is asked about. */
interface Subject {
  commit_hash: string;
  branch: string;
  node_total: string;
  node_build_id?: string;
  ci_build_id?: string;
}

/** It could not be told whether the build is complete: not the same as incomplete. */
const UNKNOWN = 3;
/** One request waits no longer, because proxies give up on longer ones. */
const MOST_SECONDS = 25;
const PAUSE_MILLISECONDS = 1000;
const FILES_SHOWN = 20;

/** Asks a server whether every test file of a build was recorded. Exit code 0: yes; 1: no; 3: it could not be asked. */
export async function verify(options: VerifyOptions): Promise<void> {
  const until = performance.now() + options.wait * 1000;
  const { node_total, branch, commit_hash } = identify(['node_total', 'branch', 'commit_hash'], options, options.environment, checkoutOf('.'));
  const build = { commit_hash, branch, node_total: String(node_total) };
  const api = new Api(options);
  try {
    const subject = { ...build, ...(await idOf(api, options, build)) };
    for (;;) {
      const seconds = Math.max(0, Math.round((until - performance.now()) / 1000));
      const answer = await ask(api, subject, Math.min(MOST_SECONDS, seconds));
      if (!answer.is_complete && seconds > MOST_SECONDS) {
        await sleep(PAUSE_MILLISECONDS);
        continue;
      }
      for (const line of options.json ? [JSON.stringify(answer)] : report(answer)) print(line);
      process.exitCode = answer.is_complete ? 0 : 1;
      return;
    }
  } catch (error) {
    say(`cannot tell whether the build is complete: ${(error as Error).message}`);
    process.exitCode = UNKNOWN;
  }
}

/**
 * Which queue or split it is about: the one that was named; else the queue, or the split, of the CI run that this is. Where that is
 * known as neither, as clients of others may call it otherwise, it is the newest one of the build.
 */
async function idOf(api: Api, options: VerifyOptions, build: Subject): Promise<Pick<Subject, 'node_build_id' | 'ci_build_id'>> {
  const { nodeBuildId: node_build_id, ciBuildId: ci_build_id, buildId, environment } = options;
  if (node_build_id || ci_build_id) return { ...(node_build_id && { node_build_id }), ...(ci_build_id && { ci_build_id }) };
  const own = buildId || detected('buildId', environment);
  if (!own) return {};
  for (const id of [{ node_build_id: own }, { ci_build_id: own }]) {
    if ((await ask(api, { ...build, ...id }, 0)).kind !== null) return id;
  }
  // Said to be this one, it is no other.
  if (buildId) return { node_build_id: buildId };
  say(`WARNING: the server knows neither a queue nor a split of this CI run (${own}): this is about the newest of the build`);
  return {};
}

async function ask(api: Api, subject: Subject, wait: number): Promise<Completeness> {
  const query = new URLSearchParams({ ...subject, wait: String(wait) });
  return api.get(`/v1/builds/completeness?${query.toString()}`, completenessAnswer, wait);
}

function report(answer: Completeness): string[] {
  const { is_complete, kind, test_files, recorded, ran_not_recorded = [], errors, warnings, never_handed_out, handed_out_not_recorded, recorded_without_time = [] } = answer;
  const missing = [
    ...handed_out_not_recorded.map(
      ({ path, node_index, handed_out_at }) => `${path}  (node ${node_index}${handed_out_at ? `, handed out at ${handed_out_at}` : ''})`,
    ),
    ...never_handed_out.map(({ path }) => `${path}  (never handed out)`),
  ];
  // Each list may be cut.
  const more = is_complete ? 0 : test_files - recorded - ran_not_recorded.length - Math.min(FILES_SHOWN, missing.length);
  return [
    kind ? `${is_complete ? 'complete' : 'incomplete'}: ${recorded} of ${test_files} test files of the ${kind} were recorded${ran_not_recorded.length > 0 ? ', others run and not recorded' : ''}` : 'incomplete',
    ...errors.map(error => `error: ${error}`),
    ...missing.slice(0, FILES_SHOWN).map(line => `  ${line}`),
    ...(more > 0 ? [`  and ${more} more (--json names more of them)`] : []),
    ...warnings.map(warning => `warning: ${warning}`),
    ...(recorded_without_time.length > 0 ? [`  ${named(recorded_without_time.map(({ path }) => path))}  (recorded with a time of 0)`] : []),
  ];
}
