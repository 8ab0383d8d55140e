import { escapeControls, print, printData } from '../../base/terminal.js';
import { UsageError } from '../../base/usage-error.js';
import { identify, wholeIdentity } from '../../node/ci/identity.js';
import { toldByNode } from '../../node/ci/told-by-node.js';
import { Api } from '../../node/client/api.js';
import { flagWish } from '../../node/client/fallback.js';
import type { PlannedFile } from '../../node/client/planned-file.js';
import { requestNodeFiles } from '../../node/client/split.js';
import { listTestFiles } from '../../node/client/test-files.js';
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
  const told = await toldByNode(options.environment, allFiles, options.proofKey);
  const { files } = await requestNodeFiles(new Api(options), identity, allFiles, {
    isDynamic: options.dynamic === true,
    fallback: options.fallback === true,
    fallbackWish: flagWish,
    told,
    undone: 'no test file is printed',
  });
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

function formatLine(format: string, { path, expected }: PlannedFile): string {
  return format.replace(/\{(path|seconds)\}/g, (_, name) => (name === 'path' ? path : expected === null ? '' : String(expected)));
}
