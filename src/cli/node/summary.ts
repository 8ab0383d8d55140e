import { escapeControls, print, printCommandToStderr, printToStderr } from '../../base/terminal.js';
import { UsageError } from '../../base/usage-error.js';
import { detectValue, type Identity, identify, missingMessage } from '../../node/ci/identity.js';
import { writeComment } from '../../node/ci/pull-request-comment.js';
import {
  type BuildMinutes,
  completenessParser,
  parseBuildList,
  parseComparison,
  parseMinutes,
  parseMinutesOrMiss,
  type ReceivedComparison,
  type ReceivedCompleteness,
} from '../../node/client/answers.js';
import { Api } from '../../node/client/api.js';
import { limits } from '../../protocol/limits.js';
import { exitCodes } from '../process/exit.js';
import type { ClientOptions } from './options.js';
import { summaryLines } from './text/summary-text.js';
import { githubWarning } from './text/verify-formats.js';

export interface SummaryOptions extends ClientOptions {
  /** The newest CI run of the build, whatever its id. */
  newest?: true;
  json?: true;
  /** The summary also becomes a comment of the pull request. */
  comment?: true;
}

/** A build that the server does not know. */
class NotFound extends Error {}

/**
 * Prints a summary of a build in Markdown. Exit code 0: it was printed, also when the build is incomplete or files failed, or when it could
 * not become a comment; 1: the server does not know the build or its CI run; 3: the request failed.
 *
 * @param id of the build or of one of its CI runs on the server; undefined: the build of this checkout and CI run
 */
export async function summary(id: string | undefined, options: SummaryOptions): Promise<void> {
  const wanted = id === undefined ? wantedBuild(options) : null;
  if (id !== undefined && options.newest)
    throw new UsageError(['--newest cannot be combined with the id of a build: leave one of them out']);
  const api = new Api(options);
  try {
    const minutes = wanted ? await minutesOfWanted(api, wanted) : await minutesOf(api, id!);
    const gate = await gateOf(api, minutes);
    const comparison = minutes.is_running ? null : await comparisonOf(api, minutes).catch(() => null);
    if (options.json) print(JSON.stringify({ ...minutes, completeness: gate, comparison }));
    else for (const line of summaryLines(minutes, gate, comparison)) print(line);
    if (options.comment) await comment(options, summaryLines(minutes, gate, comparison));
    process.exitCode = exitCodes.done;
  } catch (error) {
    printToStderr(`cannot summarize the build: ${(error as Error).message}`);
    process.exitCode = error instanceof NotFound ? exitCodes.failed : exitCodes.server;
  }
}

/** A comment must not fail a build: what went wrong is a warning. */
async function comment({ environment }: ClientOptions, lines: string[]): Promise<void> {
  try {
    printToStderr(await writeComment(environment, lines.join('\n')));
  } catch (error) {
    const { message } = error as Error;
    if (environment.GITHUB_ACTIONS) printCommandToStderr(githubWarning('Ballast', message));
    else printToStderr(`WARNING: ${message}`);
  }
}

interface Wanted {
  /** Without node_total: the builds of the commit with any number of nodes. */
  build: Partial<Identity>;
  /** Null: the newest CI run. */
  ci_run: string | null;
}

function wantedBuild(options: SummaryOptions): Wanted {
  const { environment, buildId, newest } = options;
  if (newest && buildId) throw new UsageError(['--newest cannot be combined with --build-id: leave one of them out']);
  // The job of the summary may be no node, and have another number of nodes.
  const wanted = ['branch', 'commit_hash', ...(options.nodeTotal ? (['node_total'] as const) : [])] as const;
  const build: Partial<Identity> = identify(wanted, options);
  const ci_run = newest ? null : buildId || detectValue('buildId', environment);
  if (ci_run === null && !newest)
    throw new UsageError([`${missingMessage('buildId', environment)}; or give --newest for the newest CI run of the build`]);
  return { build, ci_run };
}

async function minutesOfWanted(api: Api, { ci_run, build }: Wanted): Promise<BuildMinutes> {
  const { data } = await api.get(`/v1/builds?${queryOf(build)}`, parseBuildList);
  if (data.length === 0)
    throw new NotFound('nothing of it is recorded yet; run this step after the nodes, and give their commit and branch');
  let ofUnknownRun: BuildMinutes | null = null;
  for (const { id } of data) {
    const minutes = await api.get(`/v1/builds/${encodeURIComponent(id)}/minutes`, parseMinutes);
    const shown = ci_run?.slice(0, limits.ciRunCharacters);
    if (shown === undefined || minutes.ci_run === shown) return minutes;
    const other = minutes.other_ci_runs.find(run => run.ci_run === shown);
    if (other) return api.get(`/v1/builds/${encodeURIComponent(id)}/minutes?${queryOf({ ci_run: other.ci_run_id })}`, parseMinutes);
    // Only recordings are known, of whichever CI run.
    if (minutes.ci_run === null) ofUnknownRun ??= minutes;
  }
  if (ofUnknownRun) return ofUnknownRun;
  throw new NotFound(
    `the server knows no queue and no split of the CI run ${escapeControls(ci_run!)}; check that its nodes reach the server, or give --newest for the newest CI run of the build`,
  );
}

async function minutesOf(api: Api, id: string): Promise<BuildMinutes> {
  const minutes = await api.get(`/v1/builds/${encodeURIComponent(id)}/minutes`, parseMinutesOrMiss);
  if (minutes === 'none') throw new NotFound(`the project has no build and no CI run with the id ${escapeControls(id)}`);
  return minutes;
}

/** Asks whether every test file of the CI run was recorded; null: nothing is known of its queue or split. */
async function gateOf(api: Api, { kind, ci_run, commit_hash, branch, node_total }: BuildMinutes): Promise<ReceivedCompleteness | null> {
  if (kind === 'recordings') return null;
  const isWhole = ci_run !== null && ci_run.length < limits.ciRunCharacters;
  const id = isWhole ? { [kind === 'queue' ? 'node_build_id' : 'ci_build_id']: ci_run } : {};
  const gate = await api.get(`/v1/builds/completeness?${queryOf({ commit_hash, branch, node_total, ...id })}`, completenessParser(null));
  return gate.kind === null ? null : gate;
}

/** Asks how the build differs from the usual ones. */
function comparisonOf(api: Api, { build_id, ci_run_id }: BuildMinutes): Promise<ReceivedComparison> {
  const ciRun = build_id !== null && ci_run_id !== null ? `?${queryOf({ ci_run: ci_run_id })}` : '';
  return api.get(`/v1/builds/${encodeURIComponent(build_id ?? ci_run_id!)}/comparison${ciRun}`, parseComparison);
}

function queryOf(parameters: Readonly<Record<string, string | number>>): string {
  return new URLSearchParams(Object.entries(parameters).map(([name, value]): [string, string] => [name, String(value)])).toString();
}
