import { printToStderr } from '../../base/terminal.js';
import { charactersIn } from '../../protocol/case-names.js';
import { byName, type CaseOutcome, type NamedCases } from '../../protocol/case-outcomes.js';
import { limits } from '../../protocol/limits.js';
import type { CaseOfFile, CasesOfFile } from '../../protocol/messages/cases.js';
import type { BuildNode } from '../ci/identity.js';
import { Api } from '../client/api.js';
import { testCaseName } from '../client/report-files.js';
import { outcomeOf, type TestCase } from '../reports/test-case.js';
import type { CaseReport } from './piece.js';

/** Files that take less are never worth cutting. */
const LEAST_SECONDS = 1;
/** A file is long when it takes this part of what its node ran: the nodes of a queue run nearly the same. */
const LONG_PART = 0.4;
/** The most bytes of files in one request. The rest of the request is smaller than what this leaves. */
const MOST_BYTES = limits.caseReportBytesPerRequest - 65_536;
/** Nothing depends on what is reported, so it is tried once, for a short time. */
const TELL_SECONDS = 5;

/** The test cases that a node tells, so that the server can cut the files into pieces, and name the cases that failed. */
export class TestCases {
  readonly #pieces: CasesOfFile[] = [];
  readonly #files: CasesOfFile[] = [];
  readonly #failed: CasesOfFile[] = [];
  /** Whole files that ran after a piece of them, or in its place. */
  readonly #filesOfPieces = new Map<string, CasesOfFile>();
  /** Files with too many cases, or too long names. */
  readonly #tooLarge: CasesOfFile[] = [];
  #seconds = 0;
  #remedy: string | null = null;

  /** @param runner whose names the cases have; null: those of reports */
  constructor(readonly runner: string | null) {}

  /** Adds what a whole file took, and its cases. One with a single case cannot be cut. */
  addFile(path: string, seconds: number, cases: readonly NamedCases[]): void {
    this.#seconds += seconds;
    const file = { path, seconds, cases: entriesOf(cases) };
    const names = new Set(file.cases.map(({ name }) => name));
    if (file.cases.some(({ outcome }) => outcome === 'failed') && fits(file)) this.#failed.push(file);
    if (seconds < LEAST_SECONDS || names.size < 2) return;
    (fits(file) ? this.#files : this.#tooLarge).push(file);
  }

  /** Adds a whole file that ran after a piece of it, or in its place. Its cases are reported however long the other files of the node are. */
  addFileOfPiece(path: string, seconds: number, cases: readonly NamedCases[]): void {
    const file = { path, seconds, cases: entriesOf(cases) };
    if (fits(file)) this.#filesOfPieces.set(path, file);
    else this.#tooLarge.push(file);
  }

  /** Adds what a piece took, and its cases. @param passed_whole see CasesOfFile */
  addPiece(path: string, seconds: number, cases: readonly NamedCases[], passed_whole: string[]): void {
    this.#seconds += seconds;
    const sent = passed_whole.filter(isSendable).slice(0, limits.passedWholePerFile);
    const piece = { path, is_piece: true, seconds, cases: entriesOf(cases), ...(sent.length > 0 && { passed_whole: sent }) };
    this.#pieces.push(fits(piece) ? piece : { ...piece, cases: [] });
  }

  /** Notes that the runner ran files, and reported none of their cases. @param remedy what to do */
  addSilence(remedy: string): void {
    this.#remedy = remedy;
  }

  /** Tells the server the cases, and the user why some are not reported. Never throws. */
  async tell(api: Api, { build_id: ci_build_id, ...node }: BuildNode & { build_id?: string | undefined }): Promise<void> {
    const isLong = ({ seconds }: CasesOfFile) => seconds >= LONG_PART * this.#seconds;
    if (this.#remedy !== null)
      printToStderr(`WARNING: ${this.runner} did not tell which test cases it ran, so no file can be cut into pieces: ${this.#remedy}`);
    if (this.runner !== null) for (const file of this.#tooLarge.filter(isLong)) printToStderr(tooLargeLine(file));
    const short = new Api({ ...api.options, timeoutSeconds: TELL_SECONDS });
    const long = this.#files.filter(isLong);
    const requests = [...inRequests([...this.#pieces, ...this.#filesOfPieces.values(), ...long])].map(files => {
      return { ...node, ci_build_id, files, ...(this.runner !== null && { runner: this.runner }) };
    });
    // A file that failed may have run in part. Without a runner, its cases do not replace those by which it is cut.
    const failed = this.#failed.filter(file => !long.includes(file)).slice(0, limits.namedFailures);
    for (const files of inRequests(failed)) requests.push({ ...node, ci_build_id, files });
    for (const message of requests) {
      const isTold = await short.post('/v2/test_cases', message, () => true, 0).catch(() => false);
      if (!isTold) return;
    }
  }
}

/** An entry for each outcome of a name; the first has the time of all. No piece can name a case without a name: the rest of the file has it. */
function entriesOf(cases: readonly NamedCases[]): CaseOfFile[] {
  return cases
    .filter(({ name }) => name !== '')
    .flatMap(({ name, seconds, outcomes }) =>
      (Object.entries(outcomes) as [CaseOutcome, number][]).map(([outcome, count], i) => ({
        name,
        seconds: i === 0 ? seconds : 0,
        outcome,
        ...(count > 1 && { count }),
      })),
    );
}

/** Reports whether the server takes this name. */
function isSendable(name: string): boolean {
  return name !== '' && name.length <= limits.caseNameMaxCharacters;
}

/** Reports whether the server takes the report on a file or piece. */
function fits(file: CasesOfFile): boolean {
  const { cases } = file;
  return (
    cases.every(({ name }) => isSendable(name)) &&
    cases.length <= limits.casesPerFile &&
    charactersIn(cases) <= limits.caseCharactersPerFile &&
    bytesOf(file) <= MOST_BYTES
  );
}

function bytesOf(file: CasesOfFile): number {
  return Buffer.byteLength(JSON.stringify(file)) + 1;
}

/** Divides what is reported into requests that the server takes. */
function* inRequests(files: readonly CasesOfFile[]): Generator<CasesOfFile[]> {
  let request: CasesOfFile[] = [];
  let bytes = 0;
  for (const file of files) {
    const more = bytesOf(file);
    if (request.length === limits.caseReportFilesPerRequest || (request.length > 0 && bytes + more > MOST_BYTES)) {
      yield request;
      [request, bytes] = [[], 0];
    }
    request.push(file);
    bytes += more;
  }
  if (request.length > 0) yield request;
}

function tooLargeLine(file: CasesOfFile): string {
  const { path, cases } = file;
  const { casesPerFile, caseNameMaxCharacters, caseCharactersPerFile } = limits;
  return `${path} cannot run in pieces: it has ${cases.length} test cases that differ in name or outcome, with ${charactersIn(cases)} characters in their names, ${bytesOf(file)} bytes as JSON (the limits are ${casesPerFile} test cases, ${caseNameMaxCharacters} characters in one name, ${caseCharactersPerFile} in all names, and ${MOST_BYTES} bytes as JSON); shorten the names, or divide the file`;
}

/** The cases of each file as reports name them. */
export function casesInReports(reported: ReadonlyMap<string, readonly TestCase[]>): Map<string, CaseReport> {
  return new Map(Array.from(reported, ([file, cases]) => [file, { cases: byName(cases.map(toCase)), listed: null }]));
}

function toCase(testCase: TestCase): CaseOfFile {
  return { name: testCaseName(testCase), seconds: testCase.seconds, outcome: outcomeOf(testCase) };
}
