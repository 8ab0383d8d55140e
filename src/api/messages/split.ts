import typia from 'typia';
import type { Count, Text, Uuid } from '../../scalars.js';
import {
  dropUnusableLinks,
  type Links,
  type ListedTestFile,
  type NodeKey,
  type People,
  type PlannedTestFile,
  type RecordedTestFile,
  type TestFileList,
} from './parameters.js';
import { checkNodeIndex, PARAMETER_REQUIRED, reader } from './validation.js';

/** POST /build_distributions/subset */
export interface SplitMessage extends NodeKey, People, Links {
  /** Default: true. */
  fixed_test_suite_split: boolean;
  cache_read_attempt: boolean;
  ci_build_id: Text;
  test_files?: TestFileList<ListedTestFile>;
  /**
   * SHA-256, in hex, of the distinct paths of all test files, sorted by UTF-16 code units, with a NUL after each. If the split was
   * made from another list, a request without the list is a cache miss, and a request with it gets a 409.
   */
  test_files_digest?: Text;
}

/** The test files of one node. */
export interface SplitAnswer {
  build_distribution_id: Uuid;
  node_index: Count;
  test_files: PlannedTestFile[];
  /** The digest from the request. */
  test_files_digest?: string;
}

/** There is no split yet. The client must send the test files. */
export interface SplitMiss {
  code: 'TEST_SUITE_SPLIT_CACHE_MISS';
}

/** The recorded test files of the closest earlier build. */
export interface LastDistribution {
  /** Null if the project has no build. */
  build_distribution_id: Uuid | null;
  /** Total of all test files. */
  time_execution: number;
  test_files: RecordedTestFile[];
}

/** The ci_build_id of old clients, which send none. */
export const UNKNOWN_CI_BUILD_ID = 'unknown';

export const toSplitMessage = reader(typia.misc.literals<keyof SplitMessage>(), typia.createValidate<SplitMessage>(), {
  complete(parameters) {
    parameters.fixed_test_suite_split ??= true;
    dropUnusableLinks(parameters);
    if (parameters.test_files === undefined || parameters.cache_read_attempt !== undefined) return;
    // Old clients do not know cache_read_attempt and send the list at once. Nor do they know ci_build_id, which distinguishes dynamic
    // splits and has no effect on fixed ones.
    parameters.cache_read_attempt = false;
    if (parameters.fixed_test_suite_split === true) parameters.ci_build_id ??= UNKNOWN_CI_BUILD_ID;
  },
  check(message) {
    const errors = checkNodeIndex(message);
    if (message.cache_read_attempt === false && !message.test_files?.length) errors.test_files = [PARAMETER_REQUIRED];
    return errors;
  },
});
