import { posix } from 'node:path';
import { DiskFiles } from './disk-files.js';
import { decoderFor } from './encoding.js';
import { findFile, isTestModule } from './find-file.js';
import { readGoTest } from './go-test.js';
import { JunitReader, type TestCase } from './junit.js';
import { type KnownFiles, normalizePath, UNKNOWN_FILE } from './known-files.js';
import type { AddTime, ReadReport } from './report.js';
import { FileTimes } from './report-results.js';

/** JUnit XML of whatever runner. Files are the known ones, else those that the report itself names. */
export const readJunitTimes: ReadReport = async (bytes, tell, { root, known }) => {
  const disk = new DiskFiles(root ?? '.');
  const reportedFiles = new ReportedFiles(disk);
  const fileOfCase = (testCase: TestCase) => {
    if (known) return findFile(testCase, known);
    return testCase.file === null ? findFile(testCase, reportedFiles) : (findFile(testCase, disk) ?? normalizePath(testCase.file));
  };
  const times = new FileTimes();
  const reader = new JunitReader(testCase => addCase(times, testCase, fileOfCase(testCase), tell, known));
  for await (const text of decodeChunks(bytes)) reader.write(text);
  reader.end();
  for (const [path, { seconds }] of times.end()) tell(path, seconds);
};

/** What go test prints, plain or with -json: a package is a file. */
export const readGoTimes: ReadReport = async (bytes, tell, { known }) => {
  let whole = '';
  for await (const text of decodeChunks(bytes)) whole += text;
  const times = new FileTimes();
  for (const testCase of readGoTest(whole)) addCase(times, testCase, known ? findFile(testCase, known) : testCase.suite.name, tell, known);
  for (const [path, { seconds }] of times.end()) tell(path, seconds);
};

function addCase(times: FileTimes, testCase: TestCase, file: string | null, tell: AddTime, known: KnownFiles | null): void {
  times.add(testCase, file);
  const { suite, classname, name } = testCase;
  if (file === null)
    tell(
      testCase.file ?? [classname || suite.name, name].filter(Boolean).join(' '),
      NaN,
      known ? UNKNOWN_FILE : 'the report does not tell its file',
    );
}

const SOURCE = /\.(rb|py|[cm]?[jt]sx?|vue|feature|go|php|java|kts?|groovy|scala|cs|fs|exs?|dart|swift|rs|cljs?|robot|bats|lua|pl|t)$/i;

/** What a report calls a file, or a package, and not a class or a title. */
class ReportedFiles implements KnownFiles {
  constructor(private readonly disk: KnownFiles) {}

  find(reported: string): string | null {
    return isFileName(reported) ? normalizePath(reported) : this.disk.find(reported);
  }
}

function isFileName(text: string): boolean {
  // Perhaps a Python module, of which only the dotted name was told. Django's are tests.py of an app; what is called just "test" is none.
  if (text.endsWith('.py')) return isTestModule(posix.basename(text, '.py')) || /\/tests?\.py$/.test(text);
  return SOURCE.test(text) || /^[^\s/\\]+(\/[^\s/\\]+)+$/.test(text);
}

/** Piece by piece. */
async function* decodeChunks(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  let decoder: ReturnType<typeof decoderFor> | null = null;
  for await (const chunk of bytes) yield (decoder ??= decoderFor(chunk)).decode(chunk, { stream: true });
  if (decoder) yield decoder.decode();
}
