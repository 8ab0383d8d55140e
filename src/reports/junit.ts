import sax from 'sax';
import { limits } from '../limits.js';
import { ReportError } from './report.js';

/** One `<testcase>` of a JUnit report. */
export interface TestCase {
  /** As the report writes it (relative to who knows what, or absolute); null where it names none. */
  file: string | null;
  /** Name of the innermost suite around it; '' when there is none. */
  suite: string;
  /** The place of that suite in the report, and its own time: it may contain more than its cases, such as loading the file. */
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

/**
 * The test cases of a JUnit XML report, in its order. Runners disagree about nearly everything: only the elements
 * `testsuite` and `testcase` at any depth count, and what is missing is empty or 0. Entities that the document declares itself
 * are refused, and nothing is ever fetched.
 */
export function readJunit(xml: string): TestCase[] {
  if (xml.length > limits.reportCharacters) throw new ReportError(`it has more than ${limits.reportCharacters} characters`);
  const cases: TestCase[] = [];
  const suites: Suite[] = [];
  let seen = 0;
  let depth = 0;
  let current: TestCase | null = null;
  let caseDepth = 0;
  const parser = sax.parser(true, { position: true });
  parser.onerror = error => {
    throw new ReportError(`it is not well-formed XML: line ${parser.line + 1}: ${error.message.split('\n')[0]}`);
  };
  parser.onopentag = ({ name, attributes }) => {
    depth += 1;
    if (depth > limits.reportDepth) throw new ReportError(`its elements are nested deeper than ${limits.reportDepth}`);
    if (depth === 1 && name !== 'testsuites' && name !== 'testsuite') throw new ReportError(`it is no JUnit report: its first element is <${name}>`);
    const own = attributes as Attributes;
    if (name === 'testsuite') suites.push(suiteOf(own, suites.at(-1), ++seen));
    else if (name === 'testcase') {
      current = caseOf(own, suites.at(-1));
      caseDepth = depth;
      cases.push(current);
    } else if (current && depth === caseDepth + 1) {
      if (name === 'failure' || name === 'error') current.isFailed = true;
      if (name === 'skipped') current.isSkipped = true;
    }
  };
  parser.onclosetag = name => {
    if (name === 'testsuite') suites.pop();
    if (depth === caseDepth) [current, caseDepth] = [null, 0];
    depth -= 1;
  };
  parser.write(printable(xml)).close();
  if (depth > 0 || !/<testsuites?[\s/>]/.test(xml)) throw new ReportError('it is no JUnit report: it has no <testsuite>');
  return cases;
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
