import type { Count, Text, Uuid } from '../scalars.js';
import type { Checkout, Links, ListedTestFile, NodeKey, People, PlannedTestFile, RecordedTestFile, TestFileList } from './parameters.js';

/** POST /build_distributions/subset */
export interface SplitMessage extends NodeKey, People, Links, Checkout {
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
