import typia from 'typia';
import { coerce, type Sent } from './coerce.js';
import { accept } from './complaint.js';
import type { Text } from './text.js';

/** Query of GET /v2/test_paths */
export interface TestPathsQuery {
  branch: Text;
}

/** Test files, or test cases in them, that failed and were not run without a failure since. */
export interface TestPathsAnswer {
  failed_paths: string[];
}

const names = typia.misc.literals<keyof TestPathsQuery>();
const validate = typia.createValidate<TestPathsQuery>();

export function toTestPathsQuery(sent: Sent): TestPathsQuery {
  return accept(validate(coerce(sent, names)));
}
