import type { tags } from 'typia';
import type { CaseOutcome } from '../case-outcomes.js';
import type { limits } from '../limits.js';
import type { Text } from '../scalars.js';
import type { NodeKey, OptionalText, Path } from './parameters.js';

type CaseName = string & tags.MinLength<1> & tags.MaxLength<typeof limits.caseNameMaxCharacters>;

/** POST /v2/test_cases: the test cases of long files that a node ran, and of pieces of files. */
export interface TestCasesMessage extends NodeKey {
  /** Id of the CI run, as in POST /build_subsets. */
  ci_build_id?: OptionalText;
  /** The test runner that selects the cases by these names; missing: the names are those of reports, and no runner selects by them. */
  runner?: Text;
  files: CasesOfFile[] & tags.MaxItems<typeof limits.caseReportFilesPerRequest>;
}

/** The test cases of a test file that a node ran. */
export interface CasesOfFile {
  /** A test file, or with `is_piece` a piece of one as the queue named it. */
  path: Path;
  /** Missing: false. A test file may have the name of a piece. */
  is_piece?: boolean;
  /** Seconds that the file or piece took. */
  seconds: number & tags.Minimum<0>;
  /** In their order in the file. An entry stands for one case, or for several with the same name and outcome. */
  cases: CaseOfFile[] & tags.MaxItems<typeof limits.casesPerFile>;
  /** Cases that did not pass in the piece, but passed in the whole file right afterwards. If there are many, some of them suffice. */
  passed_whole?: CaseName[] & tags.MaxItems<typeof limits.passedWholePerFile>;
}

export interface CaseOfFile {
  name: CaseName;
  /** Of all cases that the entry stands for. */
  seconds: number & tags.Minimum<0>;
  /** `expected_failure`: the case failed, and was marked as one that fails, as with `xfail` of pytest. */
  outcome: CaseOutcome;
  /** Number of cases that the entry stands for; missing: one. */
  count?: number & tags.Type<'int64'> & tags.Minimum<1> & tags.Maximum<typeof limits.casesPerEntry>;
}

export interface TestCasesAnswer {
  /** The number of files and pieces whose cases are kept. */
  kept: number;
}
