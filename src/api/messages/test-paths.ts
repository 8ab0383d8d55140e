import typia from 'typia';
import { coerce, type RawParameters } from './coerce.js';
import type { Text } from './text.js';
import { requireValid } from './validation.js';

/** Query of GET /v2/test_paths */
export interface TestPathsQuery {
  branch: Text;
}

/** Test files, or test cases in them, that failed and have not passed since. */
export interface TestPathsAnswer {
  failed_paths: string[];
}

const names = typia.misc.literals<keyof TestPathsQuery>();
const validate = typia.createValidate<TestPathsQuery>();

export function toTestPathsQuery(raw: RawParameters): TestPathsQuery {
  return requireValid(validate(coerce(raw, names)));
}
