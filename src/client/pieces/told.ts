import type { CasesOfFile } from '../../api/messages/cases.js';
import { limits } from '../../limits.js';
import type { TestCase } from '../../reports/test-case.js';
import { printToStderr } from '../../terminal.js';
import { Api } from '../api.js';
import type { BuildNode } from '../ci/identity.js';
import { testCaseName } from '../report-files.js';
import { mergeByName, type RanCase } from './piece.js';

/** Files that take less are never worth cutting. */
const LEAST_SECONDS = 1;
/** A file is long when it takes this part of what its node ran: the nodes of a queue run the same. */
const LONG_PART = 0.5;
/** Nothing depends on what is told, so it is tried once, for a short time. */
const TELL_SECONDS = 5;

/** The test cases that a node tells, so that the server can cut the files in pieces. */
export class TestCases {
  readonly #files: CasesOfFile[] = [];
  /** Files whose cases are too many, or have too long names. */
  readonly #tooLarge: CasesOfFile[] = [];
  #seconds = 0;

  /** @param runner whose names the cases have; null: those of reports */
  constructor(readonly runner: string | null) {}

  /** Adds what a file or a piece took, and its cases. */
  add(path: string, seconds: number, told: readonly RanCase[], passed_whole: readonly string[] | null = null): void {
    this.#seconds += seconds;
    // A case without a name cannot be named in a piece: the rest of the file has it.
    const cases = told.filter(({ name }) => name !== '');
    const isTold = passed_whole !== null || seconds >= LEAST_SECONDS;
    if (!isTold || cases.length < 2 - Number(passed_whole !== null)) return;
    (fits(cases) ? this.#files : this.#tooLarge).push({
      path,
      seconds,
      cases: [...cases],
      ...(passed_whole?.length && { passed_whole: [...passed_whole] }),
    });
  }

  /** Tells the server. Whatever happens, the node goes on. */
  async tell(api: Api, { build_id: ci_build_id, ...node }: BuildNode & { build_id?: string | undefined }): Promise<void> {
    const isLong = ({ path, seconds }: CasesOfFile) => path.includes('::piece ') || seconds >= LONG_PART * this.#seconds;
    if (this.runner !== null) for (const file of this.#tooLarge.filter(isLong)) printToStderr(tooLargeLine(file));
    const files = this.#files.filter(isLong).slice(0, limits.toldFilesPerRequest);
    if (files.length === 0) return;
    const message = { ...node, ci_build_id, files, ...(this.runner !== null && { runner: this.runner }) };
    const short = new Api({ ...api.options, timeoutSeconds: TELL_SECONDS });
    await short.post('/v2/test_cases', message, () => true, 0).catch(() => {});
  }
}

/** Whether the server takes these cases. */
function fits(cases: readonly RanCase[]): boolean {
  return (
    cases.every(({ name }) => name.length <= limits.caseNameMaxCharacters) &&
    cases.length <= limits.casesPerFile &&
    charactersIn(cases) <= limits.caseCharactersPerFile
  );
}

function charactersIn(cases: readonly { name: string }[]): number {
  return cases.reduce((sum, { name }) => sum + name.length, 0);
}

function tooLargeLine({ path, cases }: CasesOfFile): string {
  const { casesPerFile, caseNameMaxCharacters, caseCharactersPerFile } = limits;
  return `${path} is not run in pieces: its ${cases.length} test cases have ${charactersIn(cases)} characters of names (the limits are ${casesPerFile} cases, ${caseNameMaxCharacters} characters of a name and ${caseCharactersPerFile} of all names); shorten the names, or divide the file`;
}

/** The cases of a file as its reports name them. */
export function reportedCases(cases: readonly TestCase[]): RanCase[] {
  return mergeByName(
    cases.map(one => ({
      name: testCaseName(one),
      seconds: one.seconds,
      outcome: one.isSkipped ? 'skipped' : one.isFailed ? 'failed' : 'passed',
    })),
  );
}
