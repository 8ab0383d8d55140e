import { splitOrMissParser, splitParser } from '../client/answers.js';
import { type AnswerParser, Api, ServerUnreachable } from '../client/api.js';
import type { PlannedFile } from '../client/batch-results.js';
import { type Identity, identify, wholeIdentity } from '../client/ci/identity.js';
import { fallbackFiles, fallbackWarning, noFallbackMessage } from '../client/fallback.js';
import { assertListed, detectMismatch, retryOnMismatch } from '../client/list-mismatch.js';
import { deleteSplit, saveSplit } from '../client/split-state.js';
import { listTestFiles } from '../client/test-files.js';
import { digestOfList } from '../list-digest.js';
import { escapeControls, print, printData, printToStderr } from '../terminal.js';
import { UsageError } from '../usage-error.js';
import type { ClientOptions, ListOptions } from './options.js';

export interface SplitOptions extends ClientOptions, ListOptions {
  /** End each path with NUL instead of a line break. */
  null?: true;
  format: string;
  /** Make a split for each CI run. */
  dynamic?: true;
  json?: true;
}

/** Prints the test files of this node. */
export async function split(globs: readonly string[], options: SplitOptions): Promise<void> {
  const identity = identify(wholeIdentity, options);
  const allFiles = await listTestFiles(globs, options.stdin === true);
  const files = await nodeFiles(identity, allFiles, options);
  if (options.json) {
    const test_files = files.map(({ path, expected: time_execution }) => ({ path, time_execution }));
    return print(JSON.stringify({ test_files }));
  }
  const end = options.null ? '\0' : '\n';
  const withLineBreak = options.null ? undefined : files.find(({ path }) => path.includes('\n'));
  if (withLineBreak)
    throw new UsageError([`the path ${JSON.stringify(withLineBreak.path)} has a line break: use --null, and read up to each NUL`]);
  // Programs get the paths unchanged; a terminal gets them escaped.
  const shown = process.stdout.isTTY ? files.map(file => ({ ...file, path: escapeControls(file.path) })) : files;
  printData(shown.map(file => `${formatLine(options.format, file)}${end}`).join(''));
}

async function nodeFiles(identity: Identity, allFiles: readonly string[], options: SplitOptions): Promise<PlannedFile[]> {
  const api = new Api(options);
  try {
    const files = await requestSplit(api, identity, allFiles, options.dynamic !== true);
    assertListed(
      'split',
      files.map(({ path }) => path),
      allFiles,
    );
    return files;
  } catch (error) {
    if (!(error instanceof ServerUnreachable)) throw error;
    if (!options.fallback) throw new ServerUnreachable(noFallbackMessage(error, 'no test file is printed'), { cause: error });
    const files = fallbackFiles(allFiles, new Set());
    deleteSplit(api, identity);
    printToStderr(...fallbackWarning(error, files.length, allFiles.length));
    return files.map(path => ({ path, expected: null }));
  }
}

/** Returns the files of this node. Sends the list of all files only if the server has no split for it yet. */
async function requestSplit(
  api: Api,
  { build_id: ci_build_id, ...node }: Identity,
  allFiles: readonly string[],
  fixed_test_suite_split: boolean,
): Promise<PlannedFile[]> {
  const test_files_digest = digestOfList(allFiles);
  const message = { ...node, ci_build_id, fixed_test_suite_split, test_files_digest };
  const ask = <T>(fields: object, parse: AnswerParser<T>) =>
    detectMismatch(() => api.post('/v1/build_distributions/subset', { ...message, ...fields }, parse));
  let answer = await ask({ cache_read_attempt: true }, splitOrMissParser(node.node_index, test_files_digest));
  if ('code' in answer)
    answer = await retryOnMismatch(() =>
      ask({ cache_read_attempt: false, test_files: allFiles.map(path => ({ path })) }, splitParser(node.node_index, test_files_digest)),
    );
  const { build_distribution_id } = answer;
  saveSplit(api, { ...message, build_distribution_id });
  return answer.test_files.map(({ path, time_execution: expected }) => ({ path, expected }));
}

function formatLine(format: string, { path, expected }: PlannedFile): string {
  return format.replace(/\{(path|seconds)\}/g, (_, name) => (name === 'path' ? path : expected === null ? '' : String(expected)));
}
