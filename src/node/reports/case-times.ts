import { posix } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { readDartTest } from './dart-test.js';
import { findFile, isTestModule } from './find-file.js';
import { readGoTest } from './go-test.js';
import { ctrfCases, readJsonReport } from './json-reports.js';
import { DiskFiles, type KnownFiles, normalizePath, UNKNOWN_FILE } from './known-files.js';
import { type AddTime, decodeReport, type ReadReport, type ReportContext } from './report.js';
import { FileTimes } from './report-results.js';
import type { TestCase } from './test-case.js';
import { readJunit } from './xml/junit.js';
import { readTrx } from './xml/trx.js';

/** Reads JUnit XML. Test cases are matched to the known files; without these, to the files that the report names. */
export const readJunitTimes: ReadReport = async (bytes, addTime, context) =>
  addTimes(readJunit(decodeReport(await buffer(bytes)), context.note), reportedFile(context), context.known, addTime);

/** Reads test results of Visual Studio. Classes are no files: only the known files can tell that they have such names. */
export const readTrxTimes: ReadReport = async (bytes, addTime, context) =>
  addTimes(readTrx(decodeReport(await buffer(bytes))), reportedFile(context), context.known, addTime);

/** Reads the events of a Dart test runner. */
export const readDartTimes: ReadReport = async (bytes, addTime, context) =>
  addTimes(readDartTest(decodeReport(await buffer(bytes))), reportedFile(context), context.known, addTime);

/** Reads the JSON of RSpec and of Mocha. */
export const readJsonTimes: ReadReport = async (bytes, addTime, context) =>
  addTimes(readJsonReport(decodeReport(await buffer(bytes))).cases, reportedFile(context), context.known, addTime);

/** Reads a report in the Common Test Report Format. */
export const readCtrfTimes: ReadReport = async (bytes, addTime, context) => {
  const cases: TestCase[] = [];
  for await (const testCase of ctrfCases(bytes)) cases.push(testCase);
  addTimes(cases, reportedFile(context), context.known, addTime);
};

/** Returns the file that the report itself names for a test case. */
function reportedFile({ root }: ReportContext): (testCase: TestCase) => string | null {
  const disk = new DiskFiles(root ?? '.');
  // A reported name that looks like a file or a package, not like a class or a title.
  const reportedFiles = { find: (name: string) => (isFileName(name) ? normalizePath(name) : disk.find(name)) };
  return testCase =>
    testCase.file === null ? findFile(testCase, reportedFiles) : (findFile(testCase, disk) ?? normalizePath(testCase.file));
}

/** Reads the output of go test, plain or with -json. Each package counts as a file. */
export const readGoTimes: ReadReport = async (bytes, addTime, { known }) =>
  addTimes(
    // A package from the cache has no time, as one without tests.
    readGoTest(decodeReport(await buffer(bytes))).map(({ isUnmeasured, ...testCase }) => testCase),
    ({ suite }) => suite.name,
    known,
    addTime,
  );

function addTimes(
  cases: readonly TestCase[],
  fileOf: (testCase: TestCase) => string | null,
  known: KnownFiles | null,
  addTime: AddTime,
): void {
  const times = new FileTimes();
  for (const testCase of cases) {
    const file = known ? findFile(testCase, known) : fileOf(testCase);
    times.add(testCase, file);
    const { suite, classname, name } = testCase;
    const shown = testCase.file ?? [classname || suite.name, name].filter(Boolean).join(' ');
    if (file === null) addTime(shown, NaN, known ? UNKNOWN_FILE : 'the report does not name its file');
  }
  for (const [path, { seconds, isUnmeasured }] of times.end()) addTime(path, seconds, isUnmeasured && 'its time cannot be read');
}

const SOURCE = /\.(rb|py|[cm]?[jt]sx?|vue|feature|go|php|java|kts?|groovy|scala|cs|fs|exs?|dart|swift|rs|cljs?|robot|bats|lua|pl|t)$/i;

function isFileName(text: string): boolean {
  // The name may be made from a dotted class name: only test modules count. Django's are named tests.py, in the folder of an app.
  if (text.endsWith('.py')) return isTestModule(posix.basename(text, '.py')) || /\/tests?\.py$/.test(text);
  return SOURCE.test(text) || /^[^\s/\\]+(\/[^\s/\\]+)+$/.test(text);
}
