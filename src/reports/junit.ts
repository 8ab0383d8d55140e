import sax from 'sax';
import { limits } from '../limits.js';
import { OtherXml, ReportError } from './report.js';
import { emptyCase, type TestCase, type TestSuite } from './test-case.js';

interface SuiteWithFile extends TestSuite {
  file: string | null;
}

interface OpenSuite {
  suite: SuiteWithFile;
  /** The number of failures and errors that the suite declares. */
  failures: number;
  /** The number of failed cases in the report before the suite began. */
  failedBefore: number;
}

type Attributes = Readonly<Record<string, string>>;

/** A failure may have its whole output in one attribute. */
const MAX_ATTRIBUTE_CHARACTERS = 16 * 2 ** 20;
// sax reads its limit when it creates a parser.
(sax as { MAX_BUFFER_LENGTH?: number }).MAX_BUFFER_LENGTH = MAX_ATTRIBUTE_CHARACTERS;

const NO_SUITE: SuiteWithFile = { name: '', file: null, seconds: 0 };

/**
 * Returns the test cases of a JUnit XML report, in the order of the report. Runners disagree about nearly everything, so only the elements
 * `testsuite` and `testcase` count, at any depth, and missing attributes are empty or 0. A suite that counts failures but has no failed case
 * gets a failed case without a name. Entities that the document declares are refused, and nothing is fetched.
 */
export function readJunit(xml: string): TestCase[] {
  return new JunitReader().read(xml);
}

class JunitReader {
  readonly #parser = sax.parser(true, { position: true });
  readonly #cases: TestCase[] = [];
  readonly #suites: OpenSuite[] = [];
  #depth = 0;
  #hasRoot = false;
  /** Cypress (mocha-junit-reporter) names the file only in the first of several sibling suites. */
  #lastFile: string | null = null;
  #case: TestCase | null = null;
  #caseDepth = 0;
  #failed = 0;

  read(xml: string): TestCase[] {
    this.#parser.onerror = error => {
      throw new ReportError(`it is not well-formed XML: line ${this.#parser.line + 1}: ${error.message.split('\n')[0]}`);
    };
    this.#parser.onopentag = ({ name, attributes }) => this.#open(name, attributes as Attributes);
    this.#parser.onclosetag = name => this.#close(name);
    this.#parser.write(replaceControls(xml)).close();
    if (this.#depth > 0 || !this.#hasRoot) throw new ReportError('it is not a JUnit report: it has no <testsuite>');
    return this.#cases;
  }

  #open(name: string, attributes: Attributes): void {
    this.#depth += 1;
    if (this.#depth > limits.reportDepth) throw new ReportError(`its elements are nested deeper than ${limits.reportDepth}`);
    if (this.#depth === 1 && name !== 'testsuites' && name !== 'testsuite')
      throw new OtherXml(`it is not a JUnit report: its first element is <${name}>, not <testsuites> or <testsuite>`);
    this.#hasRoot = true;
    if (name === 'testsuite') this.#openSuite(attributes);
    else if (name === 'testcase') {
      // Some reports have cases within cases.
      if (this.#case) this.#finish(this.#case);
      this.#case = makeCase(attributes, this.#suites.at(-1)?.suite ?? NO_SUITE);
      this.#caseDepth = this.#depth;
    } else if (this.#case && this.#depth === this.#caseDepth + 1) {
      if (name === 'failure' || name === 'error') this.#case.isFailed = true;
      // pytest marks a test that failed as expected as skipped, but it was run.
      if (name === 'skipped') this.#case.isSkipped = attribute(attributes, 'type') !== 'pytest.xfail';
    }
  }

  #openSuite(attributes: Attributes): void {
    const parent = this.#suites.at(-1)?.suite;
    if (parent) parent.seconds = 0;
    const file = fileAttribute(attributes) ?? (parent ? parent.file : this.#lastFile);
    if (!parent) this.#lastFile = file;
    const suite = { name: attribute(attributes, 'name'), file, seconds: secondsAttribute(attributes) };
    const failures = countAttribute(attributes, 'failures') + countAttribute(attributes, 'errors');
    this.#suites.push({ suite, failures, failedBefore: this.#failed });
  }

  #close(name: string): void {
    if (this.#case && this.#depth === this.#caseDepth) {
      this.#finish(this.#case);
      this.#case = null;
    }
    if (name === 'testsuite') {
      const { suite, failures, failedBefore } = this.#suites.pop()!;
      // Karma writes no case for a browser that it lost.
      if (failures > 0 && this.#failed === failedBefore) this.#finish({ ...makeCase({}, suite), isFailed: true });
    }
    this.#depth -= 1;
  }

  #finish(testCase: TestCase): void {
    if (testCase.isFailed) this.#failed += 1;
    this.#cases.push(testCase);
  }
}

function makeCase(attributes: Attributes, suite: SuiteWithFile): TestCase {
  return {
    ...emptyCase,
    file: fileAttribute(attributes) ?? suite.file,
    suite,
    classname: attribute(attributes, 'classname'),
    name: attribute(attributes, 'name'),
    seconds: secondsAttribute(attributes),
    isSkipped: /^(skipped|notrun|disabled)$/i.test(attribute(attributes, 'status')),
  };
}

function fileAttribute(attributes: Attributes): string | null {
  return attribute(attributes, 'file') || attribute(attributes, 'filepath') || null;
}

/** Replaces references to control characters, which XML forbids: some runners write terminal colours that way. */
function replaceControls(xml: string): string {
  return xml.replace(/&#(?:0*(?:[0-8]|1[124-9]|2\d|3[01])|x0*(?:[0-8bcef]|1[0-9a-f]));/gi, '\ufffd');
}

function countAttribute(attributes: Attributes, name: string): number {
  return Math.max(0, Number(attribute(attributes, name)) || 0);
}

/** Some runners separate thousands with a comma. */
function secondsAttribute(attributes: Attributes): number {
  const seconds = Number(attribute(attributes, 'time').replaceAll(',', ''));
  return Number.isFinite(seconds) && seconds > 0 ? seconds : 0;
}

function attribute(attributes: Attributes, name: string): string {
  return Object.hasOwn(attributes, name) ? attributes[name]! : '';
}
