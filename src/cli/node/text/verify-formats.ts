import { isAbsolute, posix, relative, sep } from 'node:path';
import { agree } from '../../../base/plural.js';
import { escapeXml } from '../../../base/xml.js';
import type { Environment } from '../../../node/ci/systems.js';
import type { ReceivedCompleteness } from '../../../node/client/answers.js';
import { countOf } from './gate-text.js';

/** Texts with which CI systems show an incomplete build. */

interface MissingFile {
  path: string;
  /** The sentence on its end, without the path. */
  fate: string;
}

/** A file that makes a build incomplete. */
interface UnprovenFile extends MissingFile {
  /** The sentence on its fault, after its name. */
  fault: string;
}

/** The files of a build that were not recorded, as far as the answer names them. Empty when the build is complete. */
export function missingFiles(answer: ReceivedCompleteness): MissingFile[] {
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

/** Lists those files, and the ones of which no record says that they ran. */
function unprovenFiles(answer: ReceivedCompleteness): UnprovenFile[] {
  const { is_complete, about, recorded_without_time } = answer;
  const untimed = is_complete || about?.allow_empty ? [] : recorded_without_time;
  return [
    ...missingFiles(answer).map(file => ({ ...file, fault: 'not recorded' })),
    ...untimed.map(({ path, node_index }) => ({ path, fate: `node ${node_index}`, fault: 'recorded with a time of 0 only' })),
  ];
}

/** A file that failed, and passed in a retry. */
interface FlakyFile extends MissingFile {
  /** It fails the gate. */
  isRefused: boolean;
}

/** The flaky files of an answer. @param areNewRefused a file is refused unless the default branch is known to have it, too */
export function flakyFiles({ flaky = [], default_branch }: ReceivedCompleteness, areNewRefused: boolean): FlakyFile[] {
  return flaky.map(({ path, node_indexes, is_new }) => {
    const isRefused = areNewRefused && is_new !== false;
    const known =
      default_branch === undefined
        ? 'the server does not say whether it is new: update the server'
        : `it is new: no build of ${default_branch}, the default branch, measured it`;
    const fate = `failed on ${agree(node_indexes.length, 'node', 'nodes')} ${node_indexes.join(', ')}, and passed when retried`;
    return { path, fate: isRefused ? `${fate}; ${known}` : fate, isRefused };
  });
}

/**
 * Workflow commands of GitHub Actions: an annotation for each file that makes the build incomplete, and one for each other error and warning.
 * GitHub knows a file by its path in the checkout, and the list has paths from the current folder.
 *
 * @param areNewRefused see flakyFiles
 */
export function githubAnnotations(answer: ReceivedCompleteness, { GITHUB_WORKSPACE }: Environment, areNewRefused: boolean): string[] {
  const { errors, warnings, muted = [] } = answer;
  const folder = GITHUB_WORKSPACE ? folderIn(GITHUB_WORKSPACE) : '';
  const inCheckout = (path: string) => (folder === '' || isAbsolute(path) ? path : posix.join(folder, path));
  return [
    ...errors.map(error => githubError('Incomplete build', error)),
    ...unprovenFiles(answer).map(
      ({ path, fate, fault }) => `::error file=${property(inCheckout(path))},title=Test file ${fault}::${message(`${path} (${fate})`)}`,
    ),
    ...flakyFiles(answer, areNewRefused).map(
      ({ path, fate, isRefused }) =>
        `::${isRefused ? 'error' : 'warning'} file=${property(inCheckout(path))},title=${isRefused ? 'New flaky' : 'Flaky'} test file::${message(`${path} (${fate})`)}`,
    ),
    ...muted.map(
      ({ path, node_index }) =>
        `::warning file=${property(inCheckout(path))},title=Muted failure::${message(`${path} (failed on node ${node_index})`)}`,
    ),
    ...warnings.map(warning => githubWarning('Completeness', warning)),
  ];
}

/** An error as a workflow command. */
export function githubError(title: string, error: string): string {
  return `::error title=${title}::${message(error)}`;
}

/** A warning as a workflow command. */
export function githubWarning(title: string, warning: string): string {
  return `::warning title=${title}::${message(warning)}`;
}

/** The path of the current folder in a checkout, with slashes. Empty: it is the checkout itself, or not in it. */
function folderIn(checkout: string): string {
  const path = relative(checkout, process.cwd());
  return path.startsWith('..') || isAbsolute(path) ? '' : path.split(sep).join('/');
}

/** The same as an annotation when the server could not be asked. */
export function githubFailure(reason: string): string {
  return githubError('Completeness not known', reason);
}

/**
 * A JUnit report of the gate: a case for the build, which has the errors, a failed one for each file that makes it incomplete, and a skipped one for
 * each muted failure and each file that passed only in its retry.
 *
 * @param excess says that there are more muted failures than may be; null: that is not so
 * @param areNewRefused see flakyFiles. A refused file has a failed case
 */
export function junitReport(answers: readonly ReceivedCompleteness[], excess: string | null, areNewRefused: boolean): string {
  const cases = answers.flatMap(answer => {
    const { is_complete, kind, errors, muted = [] } = answer;
    const name = kind ? `the ${kind} is complete` : 'the server knows the CI run';
    const failures = is_complete ? [] : [...(kind ? [`incomplete${countOf(answer)}`] : []), ...errors];
    return [
      testCase(name, failures.join('\n')),
      ...unprovenFiles(answer).map(({ path, fate, fault }) => testCase(path, `${fault} (${fate})`)),
      ...flakyFiles(answer, areNewRefused).map(({ path, fate, isRefused }) => (isRefused ? testCase : skippedCase)(path, `flaky: ${fate}`)),
      ...muted.map(({ path, node_index }) => skippedCase(path, `muted failure (node ${node_index})`)),
    ];
  });
  return report([...cases, ...(excess === null ? [] : [testCase('the number of muted failures', excess)])]);
}

/** The same when the server could not be asked: a report that is empty would be no report. */
export function junitOfFailure(reason: string): string {
  return report([testCase('the server tells whether every test file was recorded', reason)]);
}

function report(cases: readonly string[]): string {
  const [failed, skipped] = ['failure', 'skipped'].map(name => cases.filter(each => each.includes(`<${name} `)).length);
  return `<?xml version="1.0" encoding="UTF-8"?>
<testsuites><testsuite name="ballast verify" tests="${cases.length}" failures="${failed}"${skipped ? ` skipped="${skipped}"` : ''}>
${cases.join('\n')}
</testsuite></testsuites>`;
}

function skippedCase(name: string, reason: string): string {
  return `<testcase classname="ballast verify" name="${escapeXml(name)}"><skipped message="${escapeXml(reason)}"/></testcase>`;
}

function testCase(name: string, failure: string): string {
  const begin = `<testcase classname="ballast verify" name="${escapeXml(name)}"`;
  return failure === '' ? `${begin}/>` : `${begin}><failure message="${escapeXml(failure)}"/></testcase>`;
}

/** The end of a line ends a workflow command. */
function message(text: string): string {
  return text.replace(/[%\r\n]/g, character => encodeURIComponent(character));
}

function property(text: string): string {
  return text.replace(/[%\r\n:,]/g, character => encodeURIComponent(character));
}
