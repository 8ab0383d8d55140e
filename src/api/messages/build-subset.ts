import typia from 'typia';
import type { ValidationErrors } from '../../http/api-error.js';
import type { NodeKey } from './build-key.js';
import { coerce, type RawParameters } from './coerce.js';
import type { RecordedTestFile, TestFileList } from './test-file.js';
import type { OptionalText } from './text.js';
import { requireValid } from './validation.js';

/** POST /build_subsets */
export interface BuildSubsetMessage extends NodeKey {
  test_files: TestFileList<RecordedTestFile>;
  /**
   * Id of the CI run, as sent for its split (ci_build_id) or queue (node_build_id, test_queue_id). The recorded run then counts only for
   * the completeness of that CI run.
   */
  ci_build_id?: OptionalText;
}

const names = typia.misc.literals<keyof BuildSubsetMessage>();
const validate = typia.createValidate<BuildSubsetMessage>();

export function toBuildSubsetMessage(raw: RawParameters): BuildSubsetMessage {
  return requireValid(validate(coerce(raw, names)), checkNodeIndex);
}

/** Checks that node_index, which starts at 0, is less than node_total. */
export function checkNodeIndex({ node_index, node_total }: Partial<NodeKey>): ValidationErrors {
  if (!Number.isInteger(node_index) || !Number.isInteger(node_total) || node_total! < 1) return {};
  const maximum = node_total! - 1;
  return node_index! > maximum ? { node_index: [`must be less than or equal to ${maximum}`] } : {};
}
