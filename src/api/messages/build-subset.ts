import typia from 'typia';
import type { NodeKey } from './build-key.js';
import type { RecordedTestFile, TestFileList } from './test-file.js';
import type { OptionalText } from './text.js';
import { checkNodeIndex, reader } from './validation.js';

/** POST /build_subsets */
export interface BuildSubsetMessage extends NodeKey {
  test_files: TestFileList<RecordedTestFile>;
  /**
   * Id of the CI run, as sent for its split (ci_build_id) or queue (node_build_id, test_queue_id). The recorded run then counts only for
   * the completeness of that CI run.
   */
  ci_build_id?: OptionalText;
}

export const toBuildSubsetMessage = reader(typia.misc.literals<keyof BuildSubsetMessage>(), typia.createValidate<BuildSubsetMessage>(), {
  check: checkNodeIndex,
});
