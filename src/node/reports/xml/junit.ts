import { type Note, OtherXml, ReportError } from '../report.js';
import { emptyCase, type TestCase, type TestSuite } from '../test-case.js';
import { type Attributes, attribute, type ElementHandler, readElements } from './elements.js';
import { WrittenTimes } from './written-times.js';

interface SuiteWithFile extends TestSuite {
  file: string | null;
  /** True if suites lie in it. */
  isParent: boolean;
}

interface OpenSuite {
  suite: SuiteWithFile;
  /** The number of failures and errors that the suite declares. */
  failures: number;
  /** The number of failed cases in the report before the suite began. */
  failedBefore: number;
}

const NO_SUITE: SuiteWithFile = { name: '', file: null, seconds: 0, isParent: false };

const USE_TRX = 'use TRX instead (dotnet test --logger trx)';

/** The first elements of other reports of tests: who writes them, and what to do instead. */
const OTHER_REPORTS: ReadonlyMap<string, string> = new Map([
  ['test-run', `NUnit 3: ${USE_TRX}`],
  ['test-results', `NUnit 2: ${USE_TRX}`],
  ['assemblies', `xUnit.net: ${USE_TRX}`],
  ['testng-results', 'TestNG: use its reports junitreports/TEST-*.xml instead'],
  ['robot', 'Robot Framework: use JUnit instead (robot --xunit)'],
]);

/** The name that pytest gives its suite. */
const PYTEST = /<testsuite\s[^>]*\bname="pytest"/;
/** The exit code of pytest when it loaded its files, and selected no test in them. A file that it cannot find or load gives another code. */
const PYTEST_SELECTED_NOTHING = 5;

/** The beginning of the names that pytest and rspec_junit_formatter give their suites: both write the report also when a signal ends the run. */
const WRITTEN_AT_SIGNALS = /<testsuite\s[^>]*\bname="(?:pytest|rspec)/;

/** See Report. */
export function mayBeCutOff(xml: string): boolean {
  return WRITTEN_AT_SIGNALS.test(xml);
}

/** See ReportResults. @param cases those of the report */
export function loadedCodeOf(xml: string, cases: readonly TestCase[]): number | null {
  return cases.length === 0 && PYTEST.test(xml) ? PYTEST_SELECTED_NOTHING : null;
}

/**
 * Returns the test cases of a JUnit XML report, in the order of the report. Runners disagree about nearly everything, so only the elements
 * `testsuite` and `testcase` count, at any depth, and missing attributes are empty or 0. A suite that counts failures but has no failed case
 * gets a failed case without a name. Entities that the document declares are refused, and nothing is fetched.
 */
export function readJunit(xml: string, note: Note = () => {}): TestCase[] {
  return new JunitReader().read(xml, note);
}

class JunitReader implements ElementHandler {
  readonly #cases: TestCase[] = [];
  readonly #suites: OpenSuite[] = [];
  readonly #times = new WrittenTimes();
  /** Cypress (mocha-junit-reporter) names the file only in the first of several sibling suites. */
  #lastFile: string | null = null;
  #case: TestCase | null = null;
  #caseDepth = 0;
  #failed = 0;

  read(xml: string, note: Note): TestCase[] {
    if (xml.trim() === '') throw new ReportError('it is empty');
    if (!readElements(xml, this)) throw new ReportError('it is not a JUnit report: it has no <testsuite>');
    this.#times.end(note);
    return this.#cases;
  }

  open(name: string, attributes: Attributes, depth: number): void {
    if (depth === 1 && name !== 'testsuites' && name !== 'testsuite') {
      const remedy = OTHER_REPORTS.get(name);
      throw new OtherXml(
        `it is not a JUnit report: its first element is <${name}>, ${remedy ? `of ${remedy}` : 'not <testsuites> or <testsuite>'}`,
      );
    }
    if (name === 'testsuite') this.#openSuite(attributes);
    else if (name === 'testcase') {
      // Some reports have cases within cases.
      if (this.#case) this.#finish(this.#case);
      this.#case = this.#readCase(attributes, this.#suites.at(-1)?.suite ?? NO_SUITE);
      this.#caseDepth = depth;
    } else if (this.#case && depth === this.#caseDepth + 1) {
      if (name === 'failure' || name === 'error') this.#case.isFailed = true;
      // Of Maven Surefire, for an attempt before the one that passed.
      if (name === 'flakyFailure' || name === 'flakyError') this.#case.isFlaky = true;
      // pytest could not import the module, so none of its tests ran.
      if (name === 'error' && attribute(attributes, 'message') === 'collection failure') this.#case.isSkipped = true;
      if (name === 'skipped') {
        // pytest marks a test that failed as expected as skipped, but it was run.
        this.#case.isExpectedFailure = attribute(attributes, 'type') === 'pytest.xfail';
        this.#case.isSkipped = !this.#case.isExpectedFailure;
      }
    } else if (this.#case && name === 'property' && depth === this.#caseDepth + 2) {
      // The annotation of test.fail() in Playwright.
      if (attribute(attributes, 'name') === 'fail') this.#case.isExpectedFailure = true;
    }
  }

  #openSuite(attributes: Attributes): void {
    const parent = this.#suites.at(-1)?.suite;
    if (parent) parent.isParent = true;
    const file = fileAttribute(attributes) ?? (parent ? parent.file : this.#lastFile);
    if (!parent) this.#lastFile = file;
    const suite: SuiteWithFile = { name: attribute(attributes, 'name'), file, seconds: 0, isParent: false };
    this.#times.add(attribute(attributes, 'time'), seconds => {
      if (!suite.isParent) suite.seconds = seconds ?? 0;
    });
    const failures = countAttribute(attributes, 'failures') + countAttribute(attributes, 'errors');
    this.#suites.push({ suite, failures, failedBefore: this.#failed });
  }

  close(name: string, depth: number): void {
    if (this.#case && depth === this.#caseDepth) {
      this.#finish(this.#case);
      this.#case = null;
    }
    if (name === 'testsuite') {
      const { suite, failures, failedBefore } = this.#suites.pop()!;
      // Karma writes no case for a browser that it lost.
      if (failures > 0 && this.#failed === failedBefore) this.#finish({ ...makeCase({}, suite), isFailed: true });
    }
  }

  #readCase(attributes: Attributes, suite: SuiteWithFile): TestCase {
    const testCase = makeCase(attributes, suite);
    this.#times.add(attribute(attributes, 'time'), seconds => {
      if (seconds === null) testCase.isUnmeasured = true;
      else testCase.seconds = seconds;
    });
    return testCase;
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
    isSkipped: /^(skipped|notrun|disabled)$/i.test(attribute(attributes, 'status')),
  };
}

function fileAttribute(attributes: Attributes): string | null {
  return attribute(attributes, 'file') || attribute(attributes, 'filepath') || null;
}

function countAttribute(attributes: Attributes, name: string): number {
  return Math.max(0, Number(attribute(attributes, name)) || 0);
}
