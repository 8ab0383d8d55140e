import { TextDecoder } from 'node:util';
import { JunitReader, type TestCase } from './junit.js';
import { type KnownFiles, plainPath } from './known-files.js';
import { ReportError, type ReadReport } from './report.js';
import { timesOf } from './times.js';

/** JUnit XML of whatever runner, where nobody says which files there are: those that the report itself names. */
export const readJunitTimes: ReadReport = async (bytes, tell) => {
  const cases = await casesOf(bytes);
  const { byFile, strays } = timesOf(cases, new ReportedFiles(cases.flatMap(({ file }) => file ?? [])));
  for (const [path, { seconds }] of byFile) tell(path, seconds);
  for (const { suite, classname, name } of strays) tell([classname || suite, name].filter(Boolean).join(' '), NaN, 'the report does not tell its file');
};

const SOURCE = /\.(rb|py|[cm]?[jt]sx?|vue|feature|go|php|java|kts?|groovy|scala|cs|fs|exs?|dart|swift|rs|cljs?|robot|bats|lua|pl|t)$/i;

/** What a report calls a file, or a package, and not a class or a title. */
class ReportedFiles implements KnownFiles {
  readonly #named: ReadonlySet<string>;

  constructor(named: readonly string[]) {
    this.#named = new Set(named);
  }

  find(reported: string): string | null {
    return this.#named.has(reported) || isFile(reported) ? plainPath(reported) : null;
  }
}

function isFile(text: string): boolean {
  // Perhaps a Python module, of which only the dotted name was told: those that pytest collects, and no classes.
  if (text.endsWith('.py')) return /(^|\/)(test_[^/]*|[^/]*_test|tests?)\.py$/.test(text);
  return SOURCE.test(text) || /^[^\s/\\]+(\/[^\s/\\]+)+$/.test(text);
}

/** In the encoding that its first line tells, else UTF-8. */
async function casesOf(bytes: AsyncIterable<Uint8Array>): Promise<TestCase[]> {
  const reader = new JunitReader();
  let decoder: TextDecoder | null = null;
  for await (const chunk of bytes) reader.write((decoder ??= decoderFor(chunk)).decode(chunk, { stream: true }));
  reader.write(decoder?.decode() ?? '');
  return reader.end();
}

function decoderFor(beginning: Uint8Array): TextDecoder {
  const told = /^[^>]{0,100}\bencoding=["']([\w.-]+)["']/.exec(Buffer.from(beginning.subarray(0, 200)).toString('latin1'))?.[1];
  try {
    return new TextDecoder(told ?? 'utf-8');
  } catch {
    throw new ReportError(`its encoding is ${told}, which is not known`);
  }
}
