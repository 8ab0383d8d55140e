import type { CasesOfFile } from '../../api/messages/cases.js';
import { charactersIn } from '../../case-names.js';
import { limits } from '../../limits.js';
import { outcomeOf, type TestCase } from '../../reports/test-case.js';
import { printToStderr } from '../../terminal.js';
import { Api } from '../api.js';
import type { BuildNode } from '../ci/identity.js';
import { testCaseName } from '../report-files.js';
import { mergeByName, type RanCase, type ToldCases } from './piece.js';

/** Files that take less are never worth cutting. */
const LEAST_SECONDS = 1;
/** A file is long when it takes this part of what its node ran: the nodes of a queue run nearly the same. */
const LONG_PART = 0.4;
/** Nothing depends on what is told, so it is tried once, for a short time. */
const TELL_SECONDS = 5;

/** The test cases that a node tells, so that the server can cut the files into pieces. */
export class TestCases {
  readonly #pieces: CasesOfFile[] = [];
  readonly #files: CasesOfFile[] = [];
  /** Files with too many cases, or too long names. */
  readonly #tooLarge: CasesOfFile[] = [];
  #seconds = 0;
  #remedy: string | null = null;

  /** @param runner whose names the cases have; null: those of reports */
  constructor(readonly runner: string | null) {}

  /** Adds what a whole file took, and its cases. One with a single case cannot be cut. */
  addFile(path: string, seconds: number, told: readonly RanCase[]): void {
    this.#seconds += seconds;
    const cases = named(told);
    if (seconds < LEAST_SECONDS || cases.length < 2) return;
    (fits(cases) ? this.#files : this.#tooLarge).push({ path, seconds, cases });
  }

  /** Adds what a piece took, and its cases. @param passed_whole see CasesOfFile */
  addPiece(path: string, seconds: number, told: readonly RanCase[], passed_whole: string[]): void {
    this.#seconds += seconds;
    const cases = named(told);
    const sent = passed_whole.filter(isSendable).slice(0, limits.casesPerFile);
    this.#pieces.push({ path, seconds, cases: fits(cases) ? cases : [], ...(sent.length > 0 && { passed_whole: sent }) });
  }

  /** Notes that the runner ran files, and told none of their cases. @param remedy what to do */
  addSilence(remedy: string): void {
    this.#remedy = remedy;
  }

  /** Tells the server the cases, and the user why some are not told. Never throws. */
  async tell(api: Api, { build_id: ci_build_id, ...node }: BuildNode & { build_id?: string | undefined }): Promise<void> {
    const isLong = ({ seconds }: CasesOfFile) => seconds >= LONG_PART * this.#seconds;
    if (this.#remedy !== null)
      printToStderr(`WARNING: ${this.runner} did not tell which test cases it ran, so no file can be cut into pieces: ${this.#remedy}`);
    if (this.runner !== null) for (const file of this.#tooLarge.filter(isLong)) printToStderr(tooLargeLine(file));
    const files = [...this.#pieces, ...this.#files.filter(isLong)].slice(0, limits.toldFilesPerRequest);
    if (files.length === 0) return;
    const message = { ...node, ci_build_id, files, ...(this.runner !== null && { runner: this.runner }) };
    const short = new Api({ ...api.options, timeoutSeconds: TELL_SECONDS });
    await short.post('/v2/test_cases', message, () => true, 0).catch(() => {});
  }
}

/** No piece can name a case without a name: the rest of the file has it. */
function named(cases: readonly RanCase[]): RanCase[] {
  return cases.filter(({ name }) => name !== '');
}

/** Whether the server takes this name. */
function isSendable(name: string): boolean {
  return name !== '' && name.length <= limits.caseNameMaxCharacters;
}

/** Whether the server takes these cases. */
function fits(cases: readonly RanCase[]): boolean {
  return (
    cases.every(({ name }) => isSendable(name)) &&
    cases.length <= limits.casesPerFile &&
    charactersIn(cases) <= limits.caseCharactersPerFile
  );
}

function tooLargeLine({ path, cases }: CasesOfFile): string {
  const { casesPerFile, caseNameMaxCharacters, caseCharactersPerFile } = limits;
  return `${path} cannot run in pieces: it has ${cases.length} test cases with ${charactersIn(cases)} characters of names (the limits are ${casesPerFile} test cases, ${caseNameMaxCharacters} characters of a name and ${caseCharactersPerFile} of all names); shorten the names, or divide the file`;
}

/** The cases of each file as reports name them. */
export function toldByReports(reported: ReadonlyMap<string, readonly TestCase[]>): Map<string, ToldCases> {
  return new Map(Array.from(reported, ([file, cases]) => [file, { cases: mergeByName(cases.map(toRanCase)), listed: null }]));
}

function toRanCase(testCase: TestCase): RanCase {
  return { name: testCaseName(testCase), seconds: testCase.seconds, outcomes: { [outcomeOf(testCase)]: 1 } };
}
