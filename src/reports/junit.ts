import sax from 'sax';
import { limits } from '../limits.js';
import { OtherXml, ReportError } from './report.js';

/** One `<testcase>` of a JUnit report. */
export interface TestCase {
  /** As the report writes it (relative to who knows what, or absolute); null where it names none. */
  file: string | null;
  /** The innermost around it, the same object for all of its cases. */
  suite: TestSuite;
  classname: string;
  name: string;
  seconds: number;
  isFailed: boolean;
  isSkipped: boolean;
}

/** What a `<testsuite>` says of itself; all of it '' and 0 where a case has none around it. */
export interface TestSuite {
  name: string;
  /** What it took, with what is around its cases, such as loading the file. 0: it does not say, or has suites in it, which shows with the first of those. */
  seconds: number;
}

interface OpenSuite extends TestSuite {
  file: string | null;
}

/** The counts that a suite gives of itself. */
interface Counts {
  failures: number;
  /** The number of failed cases in the report before the suite began. */
  failedBefore: number;
}

type Attributes = Readonly<Record<string, string>>;

/** The test cases of a JUnit XML report, in its order. */
export function readJunit(xml: string): TestCase[] {
  if (xml.length > limits.reportCharacters) throw new ReportError(`it has more than ${limits.reportCharacters} characters`);
  const cases: TestCase[] = [];
  const reader = new JunitReader(testCase => cases.push(testCase));
  reader.write(xml);
  reader.end();
  return cases;
}

/** What is longest of what may be a reference, which `write` is not to cut. */
const MAX_REFERENCE_CHARACTERS = 12;
/** Characters of an attribute: a failure may have its whole story in one. */
const MAX_ATTRIBUTE_CHARACTERS = 16 * 2 ** 20;

/**
 * Reads a JUnit XML report piece by piece, and tells of each test case when it ends. Runners disagree about nearly everything:
 * only the elements `testsuite` and `testcase` at any depth count, and what is missing is empty or 0. A suite that counts failures and
 * has no failed case gets one without a name. Entities that the document declares itself are refused, and nothing is ever fetched.
 */
export class JunitReader {
  readonly #parser;
  /** The end of what was written, where it may be a part of a reference. */
  #rest = '';
  #depth = 0;
  #hasSuite = false;

  constructor(tell: (testCase: TestCase) => void) {
    (sax as { MAX_BUFFER_LENGTH?: number }).MAX_BUFFER_LENGTH = MAX_ATTRIBUTE_CHARACTERS;
    const parser = (this.#parser = sax.parser(true, { position: true }));
    const suites: OpenSuite[] = [];
    const counts: Counts[] = [];
    const none: OpenSuite = { name: '', file: null, seconds: 0 };
    /** Cypress (mocha-junit-reporter) names the file in the first suite only, beside those with the cases. */
    let lastFile: string | null = null;
    let current: TestCase | null = null;
    let caseDepth = 0;
    let failed = 0;
    const tellCase = (testCase: TestCase) => {
      if (testCase.isFailed) failed += 1;
      tell(testCase);
    };
    parser.onerror = error => {
      throw new ReportError(`it is not well-formed XML: line ${parser.line + 1}: ${error.message.split('\n')[0]}`);
    };
    parser.onopentag = ({ name, attributes }) => {
      const depth = (this.#depth += 1);
      if (depth > limits.reportDepth) throw new ReportError(`its elements are nested deeper than ${limits.reportDepth}`);
      if (depth === 1 && name !== 'testsuites' && name !== 'testsuite')
        throw new OtherXml(`it is no JUnit report, and no other XML can be read: its first element is <${name}>`);
      const own = attributes as Attributes;
      this.#hasSuite = true;
      if (name === 'testsuite') {
        const around = suites.at(-1);
        if (around) around.seconds = 0;
        const suite = {
          name: text(own, 'name'),
          file: fileAttribute(own) ?? (around ? around.file : lastFile),
          seconds: secondsAttribute(own),
        };
        if (!around) lastFile = suite.file;
        suites.push(suite);
        counts.push({ failures: countAttribute(own, 'failures') + countAttribute(own, 'errors'), failedBefore: failed });
      } else if (name === 'testcase') {
        // Some have cases within cases.
        if (current) tellCase(current);
        [current, caseDepth] = [makeCase(own, suites.at(-1) ?? none), depth];
      } else if (current && depth === caseDepth + 1) {
        if (name === 'failure' || name === 'error') current.isFailed = true;
        // A test that is expected to fail was run to see it fail.
        if (name === 'skipped') current.isSkipped = text(own, 'type') !== 'pytest.xfail';
      }
    };
    parser.onclosetag = name => {
      if (current && this.#depth === caseDepth) {
        tellCase(current);
        current = null;
      }
      if (name === 'testsuite') {
        const suite = suites.pop()!;
        const { failures, failedBefore } = counts.pop()!;
        // Karma writes no case for a browser that it lost.
        if (failures > 0 && failed === failedBefore) tellCase({ ...makeCase({}, suite), isFailed: true });
      }
      this.#depth -= 1;
    };
  }

  write(xml: string): void {
    const attribute = this.#rest + xml;
    const reference = attribute.indexOf('&', attribute.length - MAX_REFERENCE_CHARACTERS);
    const end = reference < 0 ? attribute.length : reference;
    this.#rest = attribute.slice(end);
    if (end > 0) this.#parser.write(printable(attribute.slice(0, end)));
  }

  end(): void {
    this.#parser.write(printable(this.#rest)).close();
    if (this.#depth > 0 || !this.#hasSuite) throw new ReportError('it is no JUnit report: it has no <testsuite>');
  }
}

function makeCase(attributes: Attributes, suite: OpenSuite): TestCase {
  return {
    file: fileAttribute(attributes) ?? suite.file,
    suite,
    classname: text(attributes, 'classname'),
    name: text(attributes, 'name'),
    seconds: secondsAttribute(attributes),
    isFailed: false,
    isSkipped: /^(skipped|notrun|disabled)$/i.test(text(attributes, 'status')),
  };
}

function fileAttribute(attributes: Attributes): string | null {
  return text(attributes, 'file') || text(attributes, 'filepath') || null;
}

/** Some runners write the colours of a terminal as references that XML does not have. */
function printable(xml: string): string {
  return xml.replace(/&#(?:0*(?:[0-8]|1[124-9]|2\d|3[01])|x0*(?:[0-8bcef]|1[0-9a-f]));/gi, '\ufffd');
}

function countAttribute(attributes: Attributes, name: string): number {
  return Math.max(0, Number(text(attributes, name)) || 0);
}

/** Some write thousands with a comma. */
function secondsAttribute(attributes: Attributes): number {
  const seconds = Number(text(attributes, 'time').replaceAll(',', ''));
  return Number.isFinite(seconds) && seconds > 0 ? seconds : 0;
}

function text(attributes: Attributes, name: string): string {
  return Object.hasOwn(attributes, name) ? attributes[name]! : '';
}
