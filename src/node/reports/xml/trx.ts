import { OtherXml, ReportError } from '../report.js';
import { emptyCase, type TestCase } from '../test-case.js';
import { type Attributes, attribute, type ElementHandler, readElements } from './elements.js';

/** Its first element. Comments may precede it. */
const ROOT = /^(?:\s|<\?[^>]*>|<!--(?:(?!-->)[\s\S])*-->)*<TestRun[\s/>]/;

const ROOT_CHARACTERS = 10_000;

/** Reports whether a text begins like test results of Visual Studio. */
export function isTrx(text: string): boolean {
  return ROOT.test(text.slice(0, ROOT_CHARACTERS));
}

/**
 * Returns the test cases of test results of Visual Studio (TRX), which `dotnet test --logger trx` writes. The class of a test stands apart from
 * its result. A test of several rows of data is one case. A run that failed without a failed test, as when its process crashed, gets a failed
 * case without a name.
 */
export function readTrx(xml: string): TestCase[] {
  return new TrxReader().read(xml);
}

interface Result {
  testId: string;
  name: string;
  outcome: string;
  seconds: number;
  /** Of the rows of data, each with a result within this one. */
  rowSeconds: number;
}

class TrxReader implements ElementHandler {
  readonly #results: Result[] = [];
  readonly #classes = new Map<string, string>();
  #resultDepth = 0;
  /** The id of the definition around the element; null: there is none. */
  #unitTest: string | null = null;
  #runOutcome = '';

  read(xml: string): TestCase[] {
    if (!readElements(xml, this)) throw new ReportError('it is no test results of Visual Studio: it has no <TestRun>');
    const cases = this.#results.map(({ testId, name, outcome, seconds, rowSeconds }) => ({
      ...emptyCase,
      classname: this.#classes.get(testId) ?? '',
      name,
      seconds: Math.max(seconds, rowSeconds),
      isFailed: !PASSED.test(outcome) && !SKIPPED.test(outcome),
      isSkipped: SKIPPED.test(outcome),
    }));
    const isExplained = !FAILED_RUN.test(this.#runOutcome) || cases.some(({ isFailed }) => isFailed);
    return isExplained ? cases : [...cases, { ...emptyCase, name: 'the test run', isFailed: true }];
  }

  open(name: string, attributes: Attributes, depth: number): void {
    if (depth === 1 && name !== 'TestRun')
      throw new OtherXml(`it is no test results of Visual Studio: its first element is <${name}>, not <TestRun>`);
    if (name === 'UnitTestResult') this.#openResult(attributes, depth);
    else if (name === 'UnitTest') this.#unitTest = attribute(attributes, 'id');
    // Older versions add the assembly to the class. Parameters of a class and of a test fixture are no part of its name.
    else if (name === 'TestMethod' && this.#unitTest !== null)
      this.#classes.set(this.#unitTest, /^[^(,<]*/.exec(attribute(attributes, 'className'))![0].trim());
    else if (name === 'ResultSummary') this.#runOutcome = attribute(attributes, 'outcome');
  }

  close(name: string, depth: number): void {
    if (name === 'UnitTestResult' && depth === this.#resultDepth) this.#resultDepth = 0;
    else if (name === 'UnitTest') this.#unitTest = null;
  }

  #openResult(attributes: Attributes, depth: number): void {
    const seconds = durationAttribute(attributes);
    if (this.#resultDepth > 0) {
      this.#results.at(-1)!.rowSeconds += seconds;
      return;
    }
    this.#resultDepth = depth;
    const [testId, name, outcome] = ['testId', 'testName', 'outcome'].map(key => attribute(attributes, key)) as [string, string, string];
    this.#results.push({ testId, name, outcome, seconds, rowSeconds: 0 });
  }
}

/** Any other outcome, and none, means that the test failed: Visual Studio leaves out the outcome Error. */
const PASSED = /^(Passed|Completed|Warning|Inconclusive)$/;
const SKIPPED = /^(NotExecuted|NotRunnable|Pending)$/;
const FAILED_RUN = /^(Failed|Error|Timeout|Aborted)$/;

/** Days, if any, hours, minutes and seconds: 1.02:03:04.5678901. */
function durationAttribute(attributes: Attributes): number {
  const [, days = '0', hours, minutes, seconds] =
    /^(?:(\d{1,5})\.)?(\d{1,2}):(\d{1,2}):(\d{1,2}(?:\.\d{1,9})?)$/.exec(attribute(attributes, 'duration')) ?? [];
  return hours === undefined ? 0 : ((Number(days) * 24 + Number(hours)) * 60 + Number(minutes)) * 60 + Number(seconds);
}
