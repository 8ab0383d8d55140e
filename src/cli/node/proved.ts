import { appendFileSync } from 'node:fs';
import { durationText } from '../../base/duration.js';
import { agree, pluralize } from '../../base/plural.js';
import { abbreviate, print, printToStderr } from '../../base/terminal.js';
import { gitCheckout } from '../../node/ci/git.js';
import { findValue } from '../../node/ci/identity.js';
import { proofKeys } from '../../node/ci/proof-keys.js';
import { proofKeyTexts } from '../../node/ci/told-by-node.js';
import type { ReceivedProof } from '../../node/client/answers.js';
import { Api } from '../../node/client/api.js';
import { OtherAnswer } from '../../node/client/completeness.js';
import { askProof, proofQuestion } from '../../node/client/proof.js';
import { listTestFiles } from '../../node/client/test-files.js';
import { exitCodes } from '../process/exit.js';
import type { ClientOptions, ListOptions } from './options.js';
import { link, plain } from './text/markdown.js';

export interface ProvedOptions extends ClientOptions, Pick<ListOptions, 'stdin' | 'proofKey'> {
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
  const files = await listTestFiles(globs, options.stdin === true);
  const question = await proofQuestion(files, { ...options, proofKey: texts, flakyPasses: options.flakyPasses ?? false });
  if ('doubt' in question) {
    tell(null, `not proved: ${question.doubt}`, options);
    process.exitCode = exitCodes.failed;
    return;
  }
  try {
    const answer = await askProof(new Api(options), { ...question, ...askingCiRun(options) });
    tell(answer, answer.is_proved ? provedText(answer) : notProvedText(answer, texts), options);
    process.exitCode = answer.is_proved ? exitCodes.done : exitCodes.failed;
  } catch (error) {
    if (!(error instanceof Error && 'exitCode' in error)) throw error;
    tell(null, `cannot tell whether it is proved: ${error.message}`, options);
    process.exitCode = error instanceof OtherAnswer ? exitCodes.failed : exitCodes.server;
  }
}

/** The CI run that asks, as its nodes name it: the server counts what it is spared. Nothing where there is none. */
function askingCiRun(options: ProvedOptions): Record<string, string> {
  const checkout = gitCheckout('.');
  const ci_run = findValue('buildId', options, checkout)?.value;
  if (ci_run === undefined) return {};
  const [branch, commit_hash] = (['branch', 'commitHash'] as const).map(field => findValue(field, options, checkout)?.value);
  return branch && commit_hash ? { ci_run, branch, commit_hash } : {};
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
  const { test_files, nodes, node_seconds, skipped, flaky } = ci_run!;
  const more = [
    ...(flaky!.length > 0 ? [`${abbreviate(flaky!)} passed only when ${agree(flaky!.length, 'it was', 'they were')} tried again`] : []),
    ...(skipped! > 0 ? [`all tests of ${pluralize(skipped!, 'test file')} were skipped`] : []),
  ];
  return [
    `proved: ${pluralize(test_files!, 'test file')} passed on ${pluralize(nodes!, 'node')} in ${durationText(node_seconds!)} of node time`,
    ...more,
  ].join('; ');
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
