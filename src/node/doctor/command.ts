import { readFileSync } from 'node:fs';
import picomatch from 'picomatch';
import { pluralize } from '../../base/plural.js';
import { abbreviate } from '../../base/terminal.js';
import type { Environment } from '../ci/systems.js';
import { commandFault, readsListFile } from '../client/command/command-line.js';
import { findAbove, type ReadCommand, type Runner, readCommand } from '../client/command/read-command.js';
import { isFile, relativeToCwd } from '../client/test-files.js';
import { pieceSupport } from '../pieces/runners.js';
import { flagFindings } from './command-flags.js';
import { coverageFindings } from './coverage.js';
import { type Finding, fine, problem, warning } from './finding.js';

/** A command, and what it is to run. */
interface CommandQuestion {
  /** As `queue` gets it. */
  command: readonly string[];
  /** The listed test files; null: none are known. */
  files: readonly string[] | null;
  /** The globs of --junit. */
  reports: readonly string[];
  /** --pieces was given. */
  runsPieces: boolean;
  environment: Environment;
}

type CheckedCommand = CommandQuestion & ReadCommand;

/** Checks the command that `queue` would run. It is not run. */
export function checkCommand(question: CommandQuestion): Finding[] {
  const { command } = question;
  if (command.length === 0) return fine('command.not_given', 'no command was given: to check it, give the command of queue after --');
  const checked = { ...question, ...readCommand(command) };
  const findings = [
    ...refusals(checked),
    ...packageFindings(checked),
    ...placeFindings(checked),
    ...flagFindings(checked),
    ...runnerFindings(checked),
    ...shellFindings(checked),
    ...reportFindings(checked),
    ...coverageFindings(checked),
  ];
  return findings.length > 0
    ? findings
    : fine('command.no_trap', `nothing in the command ${command.join(' ')} is known to skip, divide or stop tests`);
}

/** Faults that `queue` itself refuses, in its words. */
function refusals({ command, files, reports, runsPieces, environment }: CheckedCommand): Finding[] {
  const fault = commandFault(command, files ?? []) ?? (runsPieces ? pieceSupport(command, reports, environment) : null);
  return fault && 'what' in fault ? problem('command.refused', fault.what, fault.remedy) : [];
}

/** Reporters of Jest and Mocha that are packages of their own. */
const REPORTER = /^(?:--reporters?=|-R)?(jest-junit|mocha-junit-reporter)$/;

function packageFindings({ words }: CheckedCommand): Finding[] {
  // Plug'n'Play of Yarn has no node_modules.
  if (findAbove('.pnp.cjs') !== null) return [];
  return [...programFindings(words), ...reporterFindings(words)];
}

function reporterFindings(words: readonly string[]): Finding[] {
  const named = new Set(words.flatMap(word => REPORTER.exec(word)?.[1] ?? []));
  return [...named]
    .filter(name => findAbove(`node_modules/${name}/package.json`) === null)
    .flatMap(name =>
      problem(
        'command.reporter_not_installed',
        `the reporter ${name} is not in node_modules, of this folder or one above it, so each batch would fail`,
        `npm install --save-dev ${name}`,
      ),
    );
}

function programFindings(words: readonly string[]): Finding[] {
  const at = words.findIndex(word => /^(.*\/)?npx$/.test(word));
  const called = at < 0 ? undefined : words.slice(at + 1).find(word => !word.startsWith('-'));
  if (!called || !/^[\w.-]+$/.test(called) || findAbove(`node_modules/.bin/${called}`)) return [];
  return warning(
    'command.not_installed',
    `npx finds no ${called} in node_modules, and would fetch a package of that name, on each node`,
    'install the packages (npm ci) before this step, or start in the folder of the package',
  );
}

/** Finds commands whose files do not get to the runner. */
function placeFindings({ command, script }: CheckedCommand): Finding[] {
  const isPlaced = readsListFile(command) || command.some(arg => arg === '{}' || arg.includes('{,}'));
  const within = command.find(arg => arg !== '{}' && arg.includes('{}'));
  if (within !== undefined && script === null && !isPlaced)
    return problem(
      'command.files',
      `{} within the argument ${within} is not replaced`,
      `give {} as an argument of its own, or ${within.replace('{}', '{,}')} for all files with commas`,
    );
  // A loop without a list is over the arguments: for file; do
  const usesArguments = script !== null && /\$\{?[@*\d]|\{,\}|\bfor\s+\w+\s*(;|\n|\sdo\b)/.test(script);
  if (script !== null && !readsListFile(command) && !usesArguments)
    return problem(
      'command.files',
      `the script after ${command[0]} -c does not use its arguments, so it does not run the files of the batch${script.includes('{}') ? '; {} within an argument is not replaced' : ''}`,
      `use "$@" in the script, and pass the files after it: ${command[0]} -c '... "$@"' ${command[0]} {}`,
    );
  return isPlaced ? [] : fine('command.appended', 'the command has no {}: the files of a batch are appended to it');
}

/** Characters that have a meaning in a regular expression, and occur in names of files. A dot matches itself, too. */
const REGEXP = /[[\](){}+?*^$|]/;

function runnerFindings({ runner, flags, files }: CheckedCommand): Finding[] {
  const special = files?.filter(path => REGEXP.test(path)) ?? [];
  const skipped = (id: string, how: string, remedy: string) =>
    problem(`command.${id}`, `${runner} reads its arguments as ${how}, and would silently skip ${abbreviate(special)}`, remedy);
  switch (runner) {
    case 'jest': {
      if (flags.includes('--runTestsByPath')) return [];
      const remedy = 'put --runTestsByPath before {}';
      if (special.length > 0) return skipped('jest_patterns', 'patterns', remedy);
      return warning(
        'command.jest_patterns',
        'jest reads its arguments as patterns: a.test.js also runs lib/a.test.js, and names with [ or + are skipped',
        remedy,
      );
    }
    case 'playwright': {
      const remedy = 'give the paths as --test-list {file} instead, as in the recipe for Playwright in the guide "Recipes for runners"';
      return special.length === 0 || flags.some(word => word.startsWith('--test-list'))
        ? []
        : skipped('playwright_patterns', 'regular expressions', remedy);
    }
    case 'vitest': {
      const within = files ? containedPaths(files) : [];
      const run = flags.some(word => word === 'run' || /^--(run|watch=false)$/.test(word));
      const watching = run
        ? []
        : warning('command.watches', 'vitest without "run" watches the files at a terminal, and does not end', 'give vitest run');
      if (within.length === 0) return watching;
      return [
        ...watching,
        ...warning(
          'command.vitest_substrings',
          `vitest runs each file whose path contains an argument: ${within[0]![0]} also runs ${within[0]![1]}${within.length > 1 ? `, and ${within.length - 1} more` : ''}`,
          'rename one of them; otherwise both run, and one of them twice',
        ),
      ];
    }
    case 'rspec':
      return rspecFindings(flags, files ?? []);
    default:
      return [];
  }
}

const RSPEC_EXCLUDES = /(?:^|\s)--exclude-pattern[=\s]+(?:"([^"]*)"|'([^']*)'|(\S+))/g;

/** Listed files that RSpec leaves out where it finds its files itself. */
function rspecFindings(flags: readonly string[], files: readonly string[]): Finding[] {
  const options = ['.rspec', '.rspec-local'].filter(isFile).map(path => readFileSync(path, 'utf8'));
  const globs = [...options, flags.join(' ')].flatMap(text =>
    [...text.matchAll(RSPEC_EXCLUDES)].map(([, ...quoted]) => rspecGlob(quoted.join(''))),
  );
  const isExcluded = picomatch(globs);
  const excluded = files.filter(path => isExcluded(path));
  if (excluded.length === 0) return [];
  return warning(
    'command.rspec_excludes',
    `RSpec ignores --exclude-pattern for files that it gets by name, so ${pluralize(excluded.length, 'listed file')} that it leaves out without Ballast would run: ${abbreviate(excluded)}`,
    `leave them out of the list, too: ${globs.map(pattern => `'!${pattern}'`).join(' ')}`,
  );
}

/** The glob, from the current folder, for a pattern of RSpec: one or several with commas, below spec unless it begins with this folder. */
function rspecGlob(pattern: string): string {
  const relative = relativeToCwd(pattern);
  const glob = relative.includes(',') ? `{${relative}}` : relative;
  return relative.startsWith('spec/') ? glob : `spec/${glob}`;
}

/** Pairs of listed paths of which one contains the other. */
function containedPaths(files: readonly string[]): [string, string][] {
  const listed = new Set(files);
  return files.flatMap(path => {
    const ends = [...path.matchAll(/\//g)].map(({ index }) => path.slice(index + 1)).filter(end => listed.has(end));
    return ends.map((end): [string, string] => [end, path]);
  });
}

/** Finds shell scripts that lose the exit code of the runner. */
function shellFindings({ script, reports, command }: CheckedCommand): Finding[] {
  if (script === null) return [];
  const options = command.slice(1).join(' ');
  // A pipe within $( ) ends no script.
  const unquoted = script.replace(/"[^"]*"|'[^']*'/g, '').replace(/\$\([^()]*\)/g, '');
  const isPiped = /\s\|&?\s/.test(unquoted) && !/pipefail/.test(`${options} ${script}`);
  const isIgnored = /\|\|\s*(true|:)(\s|;|$)|;\s*(true|exit 0)\s*$/.test(script);
  if (!isPiped && !isIgnored) return [];
  const what =
    isPiped && !isIgnored
      ? 'a pipe in the script ends with the exit code of its last command'
      : 'the script ends with 0 whatever the runner ends with';
  const remedy =
    isPiped && !isIgnored ? 'use bash -o pipefail -c, or leave the pipe out' : 'let the script end with the exit code of the runner';
  if (reports.length > 0) return warning('command.exit_code', `${what}: only failures in reports then fail a batch`, remedy);
  return problem(
    'command.exit_code',
    `${what}, and no --junit names reports: failed tests would pass`,
    `${remedy}; or have the runner write reports, and name them with --junit`,
  );
}

/** Flags with which each runner writes a report. */
const REPORT_FLAGS: Partial<Record<Runner, string>> = {
  jest: '--reporters=default --reporters=jest-junit',
  vitest: '--reporter=default --reporter=junit --outputFile.junit=vitest.xml',
  playwright: '--reporter=line,junit, with PLAYWRIGHT_JUNIT_OUTPUT_NAME',
  mocha: '--reporter json --reporter-option output=mocha.json',
  pytest: '--junitxml=pytest.xml',
  'node --test': '--test-reporter=./ballast-node-test.mjs --test-reporter-destination=node.xml',
  rspec: '--format progress --format json --out rspec.json',
};

function reportFindings({ runner, words, reports, environment }: CheckedCommand): Finding[] {
  const flags = runner && REPORT_FLAGS[runner];
  if (reports.length === 0)
    return warning(
      'command.no_reports',
      'no --junit names reports, so the time of a batch is divided among its files by estimates, and a failed file is not known',
      flags ? `add ${flags}, and name the file with --junit` : 'have the runner write reports, and name them with --junit',
    );
  if (runner === 'node --test' && !NODE_NAMES_FILES && words.some(word => /^(--test-reporter=)?junit$/.test(word)))
    return problem(
      'command.node_junit',
      `the JUnit reports of node --test name no files before Node 24, and this is Node ${process.versions.node}`,
      'fetch /ballast-node-test.mjs from the server, and give --test-reporter=./ballast-node-test.mjs instead',
    );
  const isJestJunit = runner === 'jest' && words.some(word => /jest-junit/.test(word)) && !environment.JEST_JUNIT_ADD_FILE_ATTRIBUTE;
  if (!isJestJunit || hasJestJunitSettings()) return [];
  return warning(
    'command.jest_junit',
    'jest-junit does not write the paths of files by itself',
    'export JEST_JUNIT_ADD_FILE_ATTRIBUTE=true JEST_JUNIT_REPORT_TEST_SUITE_ERRORS=true',
  );
}

/** True if the JUnit reports of node --test name files. */
const NODE_NAMES_FILES = Number(process.versions.node.split('.')[0]) >= 24;

function hasJestJunitSettings(): boolean {
  const path = findAbove('package.json');
  return (
    path !== null && /"(addFileAttribute|jest-junit)"\s*:\s*["{]/.test(readFileSync(path, 'utf8').replace(/"jest-junit"\s*:\s*"/g, ''))
  );
}
