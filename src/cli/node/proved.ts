import { appendFileSync } from 'node:fs';
import { durationText } from '../../base/duration.js';
import { agree, pluralize } from '../../base/plural.js';
import { abbreviate, print, printToStderr } from '../../base/terminal.js';
import type { IdentityOptions } from '../../node/ci/identity.js';
import { proofKeys } from '../../node/ci/proof-keys.js';
import { proofKeyTexts, toldByNode } from '../../node/ci/told-by-node.js';
import { parseProof, type ReceivedProof } from '../../node/client/answers.js';
import { Api } from '../../node/client/api.js';
import { askAbout, OtherAnswer } from '../../node/client/completeness.js';
import { listTestFiles } from '../../node/client/test-files.js';
import { digestOfList } from '../../protocol/list-digest.js';
import { exitCodes } from '../process/exit.js';
import { link, plain } from './markdown.js';
import type { ClientOptions, ListOptions } from './options.js';

export interface ProvedOptions extends Omit<ClientOptions, keyof IdentityOptions>, Pick<ListOptions, 'stdin' | 'proofKey'> {
  /** Seconds. */
  maxAge: number;
  flakyPasses?: true;
  format: 'text' | 'github';
  json?: true;
}

/**
 * Asks whether the test files are known to pass in the tree that is checked out here. Exit code 0: they are; 1: they are not, or there is a doubt;
 * 3: the server could not be asked.
 */
export async function proved(globs: readonly string[], options: ProvedOptions): Promise<void> {
  const texts = options.proofKey ?? proofKeyTexts(options.environment);
  const [allFiles, { tree, tree_doubt, proof_keys = [] }] = await Promise.all([
    listTestFiles(globs, options.stdin === true),
    toldByNode(options.environment, texts),
  ]);
  try {
    if (tree === undefined || tree_doubt !== undefined) {
      tell(
        null,
        `not proved: ${tree === undefined ? 'the tree is not known' : 'these files may differ from the tree'}: ${tree_doubt}`,
        options,
      );
      process.exitCode = exitCodes.failed;
      return;
    }
    const asked = {
      tree,
      test_files_digest: digestOfList(allFiles),
      proof_keys: proof_keys.join(),
      max_age: String(options.maxAge),
      flaky_passes: String(options.flakyPasses ?? false),
    };
    const answer = await askAbout(new Api(options), '/v1/proofs', asked, parseProof);
    tell(answer, answer.is_proved ? provedText(answer) : notProvedText(answer, texts), options);
    process.exitCode = answer.is_proved ? exitCodes.done : exitCodes.failed;
  } catch (error) {
    if (!(error instanceof Error && 'exitCode' in error)) throw error;
    tell(null, `cannot tell whether it is proved: ${error.message}`, options);
    process.exitCode = error instanceof OtherAnswer ? exitCodes.failed : exitCodes.server;
  }
}

function tell(answer: ReceivedProof | null, text: string, { json, format, environment }: ProvedOptions): void {
  const ciRun = answer?.ci_run ? ciRunText(answer.ci_run) : null;
  const lines = [text, ...(ciRun === null ? [] : [`${ciRun}: ${answer!.ci_run!.url}`])];
  if (json && answer) print(JSON.stringify(answer));
  else if (answer?.is_proved) for (const line of lines) print(line);
  else printToStderr(...lines);
  if (format !== 'github') return;
  const { GITHUB_OUTPUT, GITHUB_STEP_SUMMARY } = environment;
  const output = `proved=${answer?.is_proved === true}`;
  if (GITHUB_OUTPUT) appendFileSync(GITHUB_OUTPUT, `${output}\n`);
  else print(output);
  const linked = ciRun === null ? '' : `\n\n${link(ciRun, answer!.ci_run!.url) || plain(ciRun)}`;
  if (GITHUB_STEP_SUMMARY) appendFileSync(GITHUB_STEP_SUMMARY, `${plain(text)}${linked}\n`);
}

function provedText({ ci_run }: ReceivedProof): string {
  const { test_files, nodes, skipped, flaky } = ci_run!;
  const more = [
    ...(flaky!.length > 0 ? [`${abbreviate(flaky!)} passed only when ${agree(flaky!.length, 'it was', 'they were')} tried again`] : []),
    ...(skipped! > 0 ? [`all tests of ${pluralize(skipped!, 'test file')} were skipped`] : []),
  ];
  return [`proved: ${pluralize(test_files!, 'test file')} passed on ${pluralize(nodes!, 'node')}`, ...more].join('; ');
}

/** @param texts of the keys: the answer has their digests */
function notProvedText({ reason, missing_keys }: ReceivedProof, texts: readonly string[]): string {
  const lacking = texts.filter(text => missing_keys.includes(proofKeys([text], '')[0]!));
  return `not proved: ${reason}${lacking.length > 0 ? ` (it lacks ${abbreviate(lacking)})` : ''}`;
}

function ciRunText({ ci_run, branch, commit_hash, started_at }: NonNullable<ReceivedProof['ci_run']>): string {
  const age = Math.max(0, Date.now() - Date.parse(started_at)) / 1000;
  return `CI run ${ci_run} of ${branch}, commit ${commit_hash}, began ${durationText(age)} ago`;
}
