import sax from 'sax';
import { limits } from '../limits.js';
import { ReportError } from './report.js';

/** One `<testcase>` of a JUnit report. */
export interface TestCase {
  /** As the report writes it (relative to who knows what, or absolute); null where it names none. */
  file: string | null;
  /** Name of the innermost suite around it; '' when there is none. */
  suite: string;
  /** The place of that suite in the report, and what it says that it took: with what is around its cases, such as loading the file. 0: it does not say, or has suites in it. */
  suiteNumber: number;
  suiteSeconds: number;
  classname: string;
  name: string;
  seconds: number;
  isFailed: boolean;
  isSkipped: boolean;
}

interface Suite {
  name: string;
  file: string | null;
  number: number;
  seconds: number;
}

type Attributes = Readonly<Record<string, string>>;

export { ReportError };

/** The test cases of a JUnit XML report, in its order. */
export function readJunit(xml: string): TestCase[] {
  const reader = new JunitReader();
  reader.write(xml);
  return reader.end();
}

/** What is longest of what may be a reference, which `write` is not to cut. */
const REFERENCE = 12;
/** Characters of an attribute: a failure may have its whole story in one. */
const ATTRIBUTE = 16 * 2 ** 20;

/**
 * Reads a JUnit XML report piece by piece, and keeps its test cases. Runners disagree about nearly everything: only the
 * elements `testsuite` and `testcase` at any depth count, and what is missing is empty or 0. Entities that the document
 * declares itself are refused, and nothing is ever fetched.
 */
export class JunitReader {
  readonly #cases: TestCase[] = [];
  readonly #parser;
  #characters = 0;
  /** The end of what was written, where it may be a part of a reference. */
  #rest = '';
  #depth = 0;
  #hasSuite = false;
  /** Numbers of suites that have suites in them. */
  readonly #outer = new Set<number>();

  constructor() {
    (sax as { MAX_BUFFER_LENGTH?: number }).MAX_BUFFER_LENGTH = ATTRIBUTE;
    const parser = (this.#parser = sax.parser(true, { position: true }));
    const suites: Suite[] = [];
    let seen = 0;
    let current: TestCase | null = null;
    let caseDepth = 0;
    parser.onerror = error => {
      throw new ReportError(`it is not well-formed XML: line ${parser.line + 1}: ${error.message.split('\n')[0]}`);
    };
    parser.onopentag = ({ name, attributes }) => {
      const depth = (this.#depth += 1);
      if (depth > limits.reportDepth) throw new ReportError(`its elements are nested deeper than ${limits.reportDepth}`);
      if (depth === 1 && name !== 'testsuites' && name !== 'testsuite') throw new ReportError(`it is no JUnit report: its first element is <${name}>`);
      const own = attributes as Attributes;
      this.#hasSuite = true;
      if (name === 'testsuite') {
        const around = suites.at(-1);
        if (around) this.#outer.add(around.number);
        suites.push(suiteOf(own, around, ++seen));
      } else if (name === 'testcase') {
        current = caseOf(own, suites.at(-1));
        caseDepth = depth;
        this.#cases.push(current);
      } else if (current && depth === caseDepth + 1) {
        if (name === 'failure' || name === 'error') current.isFailed = true;
        // A test that is expected to fail was run to see it fail.
        if (name === 'skipped') current.isSkipped = text(own, 'type') !== 'pytest.xfail';
      }
    };
    parser.onclosetag = name => {
      if (name === 'testsuite') suites.pop();
      if (this.#depth === caseDepth) [current, caseDepth] = [null, 0];
      this.#depth -= 1;
    };
  }

  write(xml: string): void {
    this.#characters += xml.length;
    if (this.#characters > limits.reportCharacters) throw new ReportError(`it has more than ${limits.reportCharacters} characters`);
    const text = this.#rest + xml;
    const reference = text.indexOf('&', text.length - REFERENCE);
    const end = reference < 0 ? text.length : reference;
    this.#rest = text.slice(end);
    if (end > 0) this.#parser.write(printable(text.slice(0, end)));
  }

  end(): TestCase[] {
    this.#parser.write(printable(this.#rest)).close();
    if (this.#depth > 0 || !this.#hasSuite) throw new ReportError('it is no JUnit report: it has no <testsuite>');
    for (const testCase of this.#cases) if (this.#outer.has(testCase.suiteNumber)) testCase.suiteSeconds = 0;
    return this.#cases;
  }
}

function suiteOf(attributes: Attributes, outer: Suite | undefined, number: number): Suite {
  return { name: text(attributes, 'name'), file: fileOf(attributes) ?? outer?.file ?? null, number, seconds: secondsOf(attributes) };
}

function caseOf(attributes: Attributes, suite: Suite | undefined): TestCase {
  return {
    file: fileOf(attributes) ?? suite?.file ?? null,
    suite: suite?.name ?? '',
    suiteNumber: suite?.number ?? 0,
    suiteSeconds: suite?.seconds ?? 0,
    classname: text(attributes, 'classname'),
    name: text(attributes, 'name'),
    seconds: secondsOf(attributes),
    isFailed: false,
    isSkipped: /^(skipped|notrun|disabled)$/i.test(text(attributes, 'status')),
  };
}

function fileOf(attributes: Attributes): string | null {
  return text(attributes, 'file') || text(attributes, 'filepath') || null;
}

/** Some runners write the colours of a terminal as references that XML does not have. */
function printable(xml: string): string {
  return xml.replace(/&#(?:0*(?:[0-8]|1[124-9]|2\d|3[01])|x0*(?:[0-8bcef]|1[0-9a-f]));/gi, '\ufffd');
}

/** Some write thousands with a comma. */
function secondsOf(attributes: Attributes): number {
  const seconds = Number(text(attributes, 'time').replaceAll(',', ''));
  return Number.isFinite(seconds) && seconds > 0 ? seconds : 0;
}

function text(attributes: Attributes, name: string): string {
  return Object.hasOwn(attributes, name) ? attributes[name]! : '';
}
