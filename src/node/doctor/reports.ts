import { statSync } from 'node:fs';
import { pluralize } from '../../base/plural.js';
import { abbreviate } from '../../base/terminal.js';
import { findReports, readReports, testCaseName } from '../client/report-files.js';
import { isFolder, relativeToCwd } from '../client/test-files.js';
import { reportedFile } from '../reports/find-file.js';
import { DiskFiles, ListedFiles } from '../reports/known-files.js';
import type { ReportResults } from '../reports/report-results.js';
import { type Finding, fine, problem, warning } from './finding.js';

const DAY_MILLISECONDS = 86_400_000;

/**
 * Checks the reports that an earlier run of the command wrote.
 * @param files the list of test files; null: none was given, so the reports are matched to the files in this folder
 */
export async function checkReports(globs: readonly string[], files: readonly string[] | null, now: number): Promise<Finding[]> {
  const folders = globs.filter(pattern => isFolder(relativeToCwd(pattern)));
  const findings = folders.map(folder =>
    problem(
      'reports.folder',
      `--junit ${folder} is a folder, so no report in it would be read`,
      `give a glob: --junit '${folder.replace(/\/+$/, '')}/*.xml'`,
    ),
  );
  const paths = await findReports(globs);
  if (paths.length === 0)
    return [
      ...findings,
      ...(folders.length < globs.length
        ? [
            fine(
              'reports.none',
              `no report matches ${globs.join(' ')} yet: run the tests once, then doctor again, to check what the runner writes`,
            ),
          ]
        : []),
    ];
  const old = paths.filter(path => now - statSync(path).mtimeMs > DAY_MILLISECONDS);
  if (old.length > 0)
    findings.push(
      warning(
        'reports.old',
        `${pluralize(old.length, 'report')} ${old.length === 1 ? 'is' : 'are'} from an earlier day: ${abbreviate(old)}`,
        'remove reports before the tests run: record reads all that match, and another runner may have written these',
      ),
    );
  const { results, count, unusable } = readReports(paths, files ? new ListedFiles(files) : new DiskFiles(process.cwd()));
  for (const { message, isOtherXml } of unusable)
    findings.push(
      isOtherXml
        ? warning('reports.other_xml', message, 'narrow --junit, so that it matches the reports of tests only')
        : problem(
            'reports.unreadable',
            message,
            'have the runner write a format of the guide "Reports", such as JUnit XML: a batch with such a report fails',
          ),
    );
  return count === 0 ? findings : [...findings, ...matchFindings(results, count, files)];
}

function matchFindings({ byFile, unmatched }: ReportResults, count: number, files: readonly string[] | null): Finding[] {
  const reports = pluralize(count, 'report');
  const of = files ? 'of the list' : 'in this folder';
  const named = [...new Set(unmatched.flatMap(testCase => reportedFile(testCase) ?? []))];
  const unnamed = unmatched.filter(testCase => reportedFile(testCase) === null);
  if (byFile.size === 0 && unmatched.length === 0)
    return [
      warning('reports.empty', `${reports} ${count === 1 ? 'has' : 'have'} no test case`, 'run the tests of some files, then doctor again'),
    ];
  const matched =
    byFile.size === 0 ? [] : [fine('reports.match', `${reports} with the times of ${pluralize(byFile.size, 'test file')} ${of}`)];
  const level = byFile.size === 0 ? problem : warning;
  return [
    ...matched,
    ...(named.length > 0
      ? [
          level(
            'reports.other_files',
            `${byFile.size === 0 ? `${reports} without a file ${of}` : `${pluralize(named.length, 'file')} of the reports ${named.length === 1 ? 'is' : 'are'} not ${of}`}: ${abbreviate(named)}`,
            files
              ? 'start the runner in the folder where the files are listed, and list them as the runner names them; compare a path above with a listed one'
              : 'give the list of test files, too, or start in the folder of the tests',
          ),
        ]
      : []),
    ...(unnamed.length > 0
      ? [
          level(
            'reports.no_file',
            `${pluralize(unnamed.length, 'test case')} ${unnamed.length === 1 ? 'names' : 'name'} no test file: ${abbreviate(unnamed.map(testCaseName))}`,
            'have the runner write the path of the file, as the guide Reports says for each (jest-junit: JEST_JUNIT_ADD_FILE_ATTRIBUTE=true); otherwise the time of a batch is divided by estimates, and a failed file is not known',
          ),
        ]
      : []),
  ];
}
