import typia from 'typia';
import type { NodeKey } from './build-key.js';
import { checkNodeIndex } from './build-subset.js';
import { coerce, type RawParameters } from './coerce.js';
import type { People } from './people.js';
import type { ListedTestFile, PlannedTestFile, RecordedTestFile, TestFileList } from './test-file.js';
import type { Count, Text, Uuid } from './text.js';
import { PARAMETER_REQUIRED, requireValid } from './validation.js';

/** POST /build_distributions/subset */
export interface SplitMessage extends NodeKey, People {
  fixed_test_suite_split: boolean;
  cache_read_attempt: boolean;
  ci_build_id: Text;
  test_files?: TestFileList<ListedTestFile>;
  /**
   * SHA-256, in hex, of the distinct paths of all test files, sorted by UTF-16 code units, with a NUL after each. If the split was
   * made of another list, a request without the list is a cache miss, and a request with it gets a 409.
   */
  test_files_digest?: Text;
}

/** The files of one node. */
export interface SplitAnswer {
  build_distribution_id: Uuid;
  node_index: Count;
  test_files: PlannedTestFile[];
  /** The digest from the request. */
  test_files_digest?: string;
}

/** There is no split yet: the test files are to be sent. */
export interface SplitMiss {
  code: 'TEST_SUITE_SPLIT_CACHE_MISS';
}

/** GET /build_distributions/last */
export interface LastDistribution {
  /** Null: the project has no build. */
  build_distribution_id: Uuid | null;
  /** The sum of all files. */
  time_execution: number;
  test_files: RecordedTestFile[];
}

/** Of old clients, which name none. */
export const UNKNOWN_CI_BUILD_ID = 'unknown';

const names = typia.misc.literals<keyof SplitMessage>();
const validate = typia.createValidate<SplitMessage>();

export function toSplitMessage(sent: RawParameters): SplitMessage {
  const parameters = coerce(sent, names);
  parameters.fixed_test_suite_split ??= true;
  if (parameters.test_files !== undefined && parameters.cache_read_attempt === undefined) {
    // Old clients know no cache_read_attempt and send the list at once; nor do they know a
    // ci_build_id, which tells dynamic splits apart and matters to no fixed one.
    parameters.cache_read_attempt = false;
    if (parameters.fixed_test_suite_split === true) parameters.ci_build_id ??= UNKNOWN_CI_BUILD_ID;
  }
  return requireValid(validate(parameters), message => {
    const complaints = checkNodeIndex(message);
    if (message.cache_read_attempt === false && !message.test_files?.length) complaints.test_files = [PARAMETER_REQUIRED];
    return complaints;
  });
}
