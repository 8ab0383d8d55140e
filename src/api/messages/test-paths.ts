import typia from 'typia';
import { coerce, type Sent } from './coerce.js';
import type { Text } from './text.js';
import { accept } from './validation.js';

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
