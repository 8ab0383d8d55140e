import typia from 'typia';
import type { Text } from './text.js';
import { reader } from './validation.js';

/** Query of GET /v2/test_paths */
export interface TestPathsQuery {
  branch: Text;
}

/** Test files, or test cases in them, that failed and have not passed since. */
export interface TestPathsAnswer {
  failed_paths: string[];
}

export const toTestPathsQuery = reader(typia.misc.literals<keyof TestPathsQuery>(), typia.createValidate<TestPathsQuery>());
