import { posix } from 'node:path';
import { DiskFiles } from './disk-files.js';
import { decoderFor } from './encoding.js';
import { findFile, isTestModule } from './find-file.js';
import { readGoTest } from './go-test.js';
import { JunitReader, type TestCase } from './junit.js';
import { type KnownFiles, normalizePath, UNKNOWN_FILE } from './known-files.js';
import type { AddTime, ReadReport } from './report.js';
import { FileTimes } from './report-results.js';

/** Reads JUnit XML. Test cases are matched to the known files; without these, to the files that the report names. */
export const readJunitTimes: ReadReport = async (bytes, addTime, { root, known }) => {
  const disk = new DiskFiles(root ?? '.');
  const reportedFiles = new ReportedFiles(disk);
  const fileOfCase = (testCase: TestCase) => {
    if (known) return findFile(testCase, known);
    return testCase.file === null ? findFile(testCase, reportedFiles) : (findFile(testCase, disk) ?? normalizePath(testCase.file));
  };
  const times = new FileTimes();
  const reader = new JunitReader(testCase => addCase(times, testCase, fileOfCase(testCase), addTime, known));
  for await (const text of decodeChunks(bytes)) reader.write(text);
  reader.end();
  for (const [path, { seconds }] of times.end()) addTime(path, seconds);
};

/** Reads the output of go test, plain or with -json. Each package counts as a file. */
export const readGoTimes: ReadReport = async (bytes, addTime, { known }) => {
  let whole = '';
  for await (const text of decodeChunks(bytes)) whole += text;
  const times = new FileTimes();
  for (const testCase of readGoTest(whole))
    addCase(times, testCase, known ? findFile(testCase, known) : testCase.suite.name, addTime, known);
  for (const [path, { seconds }] of times.end()) addTime(path, seconds);
};

function addCase(times: FileTimes, testCase: TestCase, file: string | null, addTime: AddTime, known: KnownFiles | null): void {
  times.add(testCase, file);
  const { suite, classname, name } = testCase;
  if (file === null)
    addTime(
      testCase.file ?? [classname || suite.name, name].filter(Boolean).join(' '),
      NaN,
      known ? UNKNOWN_FILE : 'the report does not name its file',
    );
}

const SOURCE = /\.(rb|py|[cm]?[jt]sx?|vue|feature|go|php|java|kts?|groovy|scala|cs|fs|exs?|dart|swift|rs|cljs?|robot|bats|lua|pl|t)$/i;

/** Accepts a reported name that looks like a file or a package, not like a class or a title. */
class ReportedFiles implements KnownFiles {
  constructor(private readonly disk: KnownFiles) {}

  find(reported: string): string | null {
    return isFileName(reported) ? normalizePath(reported) : this.disk.find(reported);
  }
}

function isFileName(text: string): boolean {
  // The name may be made from a dotted class name: only test modules count. Django's are named tests.py, in the folder of an app.
  if (text.endsWith('.py')) return isTestModule(posix.basename(text, '.py')) || /\/tests?\.py$/.test(text);
  return SOURCE.test(text) || /^[^\s/\\]+(\/[^\s/\\]+)+$/.test(text);
}

async function* decodeChunks(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  let decoder: ReturnType<typeof decoderFor> | null = null;
  for await (const chunk of bytes) yield (decoder ??= decoderFor(chunk)).decode(chunk, { stream: true });
  if (decoder) yield decoder.decode();
}
