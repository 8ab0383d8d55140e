import type { ToldCompleteness } from '../client/answers.js';
import { pluralize, wasOrWere } from '../plural.js';

/** What a CI system shows of an incomplete build. */

interface MissingFile {
  path: string;
  /** What happened to it, without the path. */
  fate: string;
}

/** The files of a build that were not recorded, as far as the answer names them. Empty when the build is complete. */
export function missingFiles(answer: ToldCompleteness): MissingFile[] {
  const { is_complete, handed_out_not_recorded, never_handed_out } = answer;
  if (is_complete) return [];
  return [
    ...handed_out_not_recorded.map(({ path, node_index, handed_out_at }) => ({
      path,
      fate: `node ${node_index}${handed_out_at ? `, handed out at ${handed_out_at}` : ''}`,
    })),
    ...never_handed_out.map(({ path }) => ({ path, fate: 'never handed out' })),
  ];
}

/** Workflow commands of GitHub Actions: an annotation for each missing file, and one for each other error and warning. */
export function githubAnnotations(answer: ToldCompleteness): string[] {
  const { errors, warnings } = answer;
  return [
    ...errors.map(error => `::error title=Incomplete build::${message(error)}`),
    ...missingFiles(answer).map(
      ({ path, fate }) => `::error file=${property(path)},title=Test file not recorded::${message(`${path} (${fate})`)}`,
    ),
    ...warnings.map(warning => `::warning title=Completeness::${message(warning)}`),
  ];
}

/** A JUnit report of the gate: a case for the build, which has the errors, and a failed one for each missing file. */
export function junitReport(answers: readonly ToldCompleteness[]): string {
  const cases = answers.flatMap(answer => {
    const { is_complete, kind, test_files, recorded, errors } = answer;
    const name = kind ? `every test file of the ${kind} was recorded` : 'the server knows the CI run';
    const failures = is_complete
      ? []
      : [...(kind ? [`${recorded} of ${pluralize(test_files, 'test file')} ${wasOrWere(recorded)} recorded`] : []), ...errors];
    return [testCase(name, failures.join('\n')), ...missingFiles(answer).map(({ path, fate }) => testCase(path, `not recorded (${fate})`))];
  });
  return report(cases);
}

/** The same when the server could not be asked: a report that is empty would be no report. */
export function junitOfFailure(reason: string): string {
  return report([testCase('the server tells whether every test file was recorded', reason)]);
}

function report(cases: readonly string[]): string {
  const failed = cases.filter(each => each.includes('<failure ')).length;
  return `<?xml version="1.0" encoding="UTF-8"?>
<testsuites><testsuite name="ballast verify" tests="${cases.length}" failures="${failed}">
${cases.join('\n')}
</testsuite></testsuites>`;
}

function testCase(name: string, failure: string): string {
  const begin = `<testcase classname="ballast verify" name="${attribute(name)}"`;
  return failure === '' ? `${begin}/>` : `${begin}><failure message="${attribute(failure)}"/></testcase>`;
}

/** XML has no other control characters, not even escaped. */
function attribute(text: string): string {
  return text
    .replace(/(?![\t\n\r])[\p{Cc}\p{Cs}\ufffe\uffff]/gu, '\ufffd')
    .replace(/[&<>"'\t\n\r]/g, character => `&#${character.charCodeAt(0)};`);
}

/** The end of a line ends a workflow command. */
function message(text: string): string {
  return text.replace(/[%\r\n]/g, character => encodeURIComponent(character));
}

function property(text: string): string {
  return text.replace(/[%\r\n:,]/g, character => encodeURIComponent(character));
}
