import { splitAnswer, splitAnswerOrMiss } from '../client/answers.js';
import { Api, type Check, Unreachable } from '../client/api.js';
import type { PlannedFile } from '../client/batch-results.js';
import { type Identity, identify } from '../client/ci/identity.js';
import { fallbackWarning, filesOfFallback, noFallback } from '../client/fallback.js';
import { checkoutOf } from '../client/git.js';
import { assertListed, withNames, withSameList } from '../client/same-list.js';
import { forgetSplit, rememberSplit } from '../client/split-state.js';
import { testFiles } from '../client/test-files.js';
import { UsageError } from '../client/usage-error.js';
import { digestOfList } from '../list-digest.js';
import { print, printable, printData, say } from '../terminal.js';
import type { ClientOptions, ListOptions } from './client-options.js';

export interface SplitOptions extends ClientOptions, ListOptions {
  /** NUL behind each, not a line break. */
  null?: true;
  format: string;
  /** Each CI run has a split of its own. */
  dynamic?: true;
  json?: true;
}

/** Prints the test files of this node. */
export async function split(globs: readonly string[], options: SplitOptions): Promise<void> {
  const identity = identify(
    ['node_index', 'node_total', 'build_id', 'branch', 'commit_hash'],
    options,
    options.environment,
    checkoutOf('.'),
  );
  const all = await testFiles(globs, options.stdin === true);
  const files = await filesOf(identity, all, options);
  if (options.json) {
    const test_files = files.map(({ path, expected: time_execution }) => ({ path, time_execution }));
    return print(JSON.stringify({ test_files }));
  }
  const end = options.null ? '\0' : '\n';
  const broken = options.null ? undefined : files.find(({ path }) => path.includes('\n'));
  if (broken) throw new UsageError([`the path ${JSON.stringify(broken.path)} has a line break: use --null, and read up to each NUL`]);
  // Data for a program, unless it goes to a terminal.
  const shown = process.stdout.isTTY ? files.map(file => ({ ...file, path: printable(file.path) })) : files;
  printData(shown.map(file => `${formatted(options.format, file)}${end}`).join(''));
}

async function filesOf(identity: Identity, all: readonly string[], options: SplitOptions): Promise<PlannedFile[]> {
  const api = new Api(options);
  try {
    const files = await splitByServer(api, identity, all, options.dynamic !== true);
    assertListed(
      'split',
      files.map(({ path }) => path),
      all,
    );
    return files;
  } catch (error) {
    if (!(error instanceof Unreachable)) throw error;
    if (!options.fallback) throw new Unreachable(noFallback(error, 'no test file is printed'), { cause: error });
    const files = filesOfFallback(all, new Set());
    forgetSplit(api, identity);
    say(...fallbackWarning(error, files.length, all.length));
    return files.map(path => ({ path, expected: null }));
  }
}

async function splitByServer(
  api: Api,
  { build_id: ci_build_id, ...node }: Identity,
  all: readonly string[],
  fixed_test_suite_split: boolean,
): Promise<PlannedFile[]> {
  const test_files_digest = digestOfList(all);
  const message = { ...node, ci_build_id, fixed_test_suite_split, test_files_digest };
  const ask = <T>(more: object, check: Check<T>) =>
    withSameList(() => api.post('/v1/build_distributions/subset', { ...message, ...more }, check));
  let answer = await ask({ cache_read_attempt: true }, splitAnswerOrMiss(node.node_index, test_files_digest));
  if ('code' in answer)
    answer = await withNames(() =>
      ask({ cache_read_attempt: false, test_files: all.map(path => ({ path })) }, splitAnswer(node.node_index, test_files_digest)),
    );
  const { build_distribution_id } = answer;
  rememberSplit(api, { ...message, build_distribution_id });
  return answer.test_files.map(({ path, time_execution: expected }) => ({ path, expected }));
}

function formatted(format: string, { path, expected }: PlannedFile): string {
  return format.replace(/\{(path|seconds)\}/g, (_, name) => (name === 'path' ? path : expected === null ? '' : String(expected)));
}
