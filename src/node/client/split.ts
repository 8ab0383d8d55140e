import { printToStderr } from '../../base/terminal.js';
import { digestOfList } from '../../protocol/list-digest.js';
import type { Identity } from '../ci/identity.js';
import type { ToldByNode } from '../ci/told-by-node.js';
import { splitOrMissParser, splitParser } from './answers.js';
import { type AnswerParser, type Api, ServerUnreachable } from './api.js';
import { fallbackFiles, fallbackWarning, noFallbackMessage, type Wish } from './fallback.js';
import { assertListed, detectMismatch, retryOnMismatch } from './list-mismatch.js';
import type { PlannedFile } from './planned-file.js';
import { deleteSplit, saveSplit } from './split-state.js';

export interface SplitChoices {
  /** Make a split for each CI run. */
  isDynamic: boolean;
  /** If the server cannot be reached, take all files instead of failing. */
  fallback: boolean;
  /** Way in which the user asks for the fallback. */
  fallbackWish: Wish;
  /** With its first requests. */
  told: ToldByNode;
  /** Work that the node does not do when there is no server and no fallback. */
  undone: string;
}

/** The part of a split that one node runs. */
export interface NodeFiles {
  /** Slowest first, or in the order of the list if the server was not reached. */
  files: PlannedFile[];
  /** The server was not reached: these are all files, and no part of a split. */
  isFallback: boolean;
}

/**
 * Returns the files of this node, and saves its split for `assertSplitExists`. Throws ListMismatch if other nodes have another list,
 * RequestRejected, or, without the fallback, ServerUnreachable.
 * @param allFiles the same on all nodes
 */
export async function requestNodeFiles(
  api: Api,
  identity: Identity,
  allFiles: readonly string[],
  { isDynamic, fallback, fallbackWish, told, undone }: SplitChoices,
): Promise<NodeFiles> {
  try {
    const files = await requestSplit(api, identity, allFiles, !isDynamic, told);
    assertListed(
      'split',
      files.map(({ path }) => path),
      allFiles,
    );
    return { files, isFallback: false };
  } catch (error) {
    if (!(error instanceof ServerUnreachable)) throw error;
    if (!fallback) throw new ServerUnreachable(noFallbackMessage(error, undone, fallbackWish), { cause: error });
    const files = fallbackFiles(allFiles, new Set());
    deleteSplit(api, identity);
    printToStderr(...fallbackWarning(error, files.length, allFiles.length, fallbackWish));
    return { files: files.map(path => ({ path, expected: null })), isFallback: true };
  }
}

/** Returns the files of this node. Sends the list of all files only if the server has no split for it yet. */
async function requestSplit(
  api: Api,
  { build_id: ci_build_id, ...node }: Identity,
  allFiles: readonly string[],
  fixed_test_suite_split: boolean,
  told: ToldByNode,
): Promise<PlannedFile[]> {
  const test_files_digest = digestOfList(allFiles);
  const message = { ...node, ci_build_id, fixed_test_suite_split, test_files_digest };
  const ask = <T>(fields: object, parse: AnswerParser<T>) =>
    detectMismatch(() => api.post('/v1/build_distributions/subset', { ...message, ...told, ...fields }, parse));
  let answer = await ask({ cache_read_attempt: true }, splitOrMissParser(node.node_index, test_files_digest));
  if ('code' in answer)
    answer = await retryOnMismatch(() =>
      ask({ cache_read_attempt: false, test_files: allFiles.map(path => ({ path })) }, splitParser(node.node_index, test_files_digest)),
    );
  const { build_distribution_id } = answer;
  saveSplit(api, { ...message, ...told, build_distribution_id });
  return answer.test_files.map(({ path, time_execution: expected }) => ({ path, expected }));
}
