import { limits } from '../limits.js';
import { readJunit } from './junit.js';
import { type KnownFiles, plainPath } from './known-files.js';
import { ReportError, type ReadReport } from './report.js';
import { timesOf } from './times.js';

/** JUnit XML of whatever runner, where nobody says which files there are: those that the report itself names. */
export const readJunitTimes: ReadReport = async (bytes, tell) => {
  const cases = readJunit(await textOf(bytes));
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

async function textOf(bytes: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of bytes) {
    size += chunk.length;
    // Read further it would only be refused.
    if (size > limits.reportCharacters * 3) throw new ReportError(`it has more than ${limits.reportCharacters} characters`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}
