import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import picomatch from 'picomatch';
import which from 'which';
import { abbreviate, pluralize } from '../../terminal.js';
import type { Environment } from '../ci/systems.js';
import { commandFault, readsListFile } from '../command-line.js';
import { isFile, relativeToCwd } from '../test-files.js';
import { type Finding, fine, problem, warning } from './finding.js';

export interface CommandQuestion {
  /** The command as `queue` gets it. */
  command: readonly string[];
  /** The listed test files; null: none are known. */
  files: readonly string[] | null;
  /** The globs of --junit. */
  reports: readonly string[];
  environment: Environment;
}

/** Checks the command that `queue` would run. It is not run. */
export function checkCommand(question: CommandQuestion): Finding[] {
  const { command } = question;
  if (command.length === 0) return [fine('command.not_given', 'no command was given: give that of queue after --, to check it')];
  const read = readCommand(question);
  const findings = [
    ...programFindings(read),
    ...placeFindings(read),
    ...flagFindings(read),
    ...runnerFindings(read),
    ...shellFindings(read),
    ...reportFindings(read),
  ];
  return findings.length > 0 ? findings : [fine('command.no_trap', `no problem was found with the command ${command.join(' ')}`)];
}

type Runner = 'jest' | 'vitest' | 'playwright' | 'pytest' | 'rspec' | 'mocha' | 'cypress' | 'go test' | 'phpunit' | 'node --test';

interface ReadCommand extends CommandQuestion {
  /** All words, those of a shell script and of scripts of package.json among them. */
  words: readonly string[];
  /** The script after `sh -c`; null: there is none. */
  script: string | null;
  /** The first runner among the words; null: none that is known. */
  runner: Runner | null;
  /** The words behind the runner; all words if none is known. */
  flags: readonly string[];
}

const RUNNERS: readonly [Runner, RegExp][] = [
  ['jest', /^jest(\.js)?$|^react-scripts$/],
  ['vitest', /^vitest(\.mjs)?$/],
  ['playwright', /^playwright$/],
  ['pytest', /^(py\.?test|pytest-\d)$/],
  ['rspec', /^rspec$/],
  ['mocha', /^mocha$/],
  ['cypress', /^cypress$/],
  ['phpunit', /^phpunit$/],
];

function readCommand(question: CommandQuestion): ReadCommand {
  const { command } = question;
  const flag = isShell(command[0]) ? command.findIndex((arg, i) => i > 0 && /^-[a-z]*c$/.test(arg)) : -1;
  const script = flag > 0 ? (command[flag + 1] ?? '') : null;
  const spoken = script === null ? command : [...command.slice(0, flag + 1), ...wordsOf(script), ...command.slice(flag + 2)];
  const words = withPackageScript(spoken);
  const names = words.map(word => word.split('/').at(-1)!);
  const runnerOf = (name: string, i: number): Runner | undefined => {
    if (name === 'go' && names[i + 1] === 'test') return 'go test';
    if (name === 'node' && names.includes('--test', i)) return 'node --test';
    return RUNNERS.find(([, pattern]) => pattern.test(name))?.[0];
  };
  const at = names.findIndex((name, i) => runnerOf(name, i) !== undefined);
  const end = words.findIndex((word, i) => i > at && END.test(word));
  const flags = at < 0 ? words : words.slice(at + 1, end < 0 ? undefined : end);
  return { ...question, words, script, runner: at < 0 ? null : runnerOf(names[at]!, at)!, flags };
}

const isShell = (program = '') => /^(.*\/)?(ba|da|k|z)?sh$/.test(program);

/** What ends a command within a script. */
const END = /^[;|&]+$/;

/** The words of a script, roughly: quotes do not matter for what is looked for. */
function wordsOf(script: string): string[] {
  return script.match(/[;|&]+|[^\s;|&"'()]+/g) ?? [];
}

/** Puts in the script of package.json for `npm test`, `npm run NAME`, `yarn NAME` and the like. */
function withPackageScript(words: readonly string[]): readonly string[] {
  const at = words.findIndex(word => /^(.*\/)?(npm|yarn|pnpm|bun)$/.test(word));
  const nameAt = /^run(-script)?$/.test(words[at + 1] ?? '') ? at + 2 : at + 1;
  const script = at < 0 ? undefined : packageScripts()[words[nameAt] === 't' ? 'test' : (words[nameAt] ?? '')];
  return typeof script === 'string' ? [...words.slice(0, at), ...wordsOf(script), ...words.slice(nameAt + 1)] : words;
}

function packageScripts(): Readonly<Record<string, unknown>> {
  const path = findAbove('package.json');
  if (path === null) return {};
  try {
    return (JSON.parse(readFileSync(path, 'utf8')) as { scripts?: Record<string, unknown> } | null)?.scripts ?? {};
  } catch {
    return {};
  }
}

function programFindings({ command, environment, words }: ReadCommand): Finding[] {
  const program = command[0]!;
  if (command.length === 1 && /\s/.test(program))
    return [
      problem(
        'command.one_word',
        `the command is one argument, ${JSON.stringify(program)}, so no such program is found`,
        'leave out the quotes around it, or give sh -c with a script',
      ),
    ];
  if (/^\w+=/.test(program))
    return [
      problem(
        'command.variable',
        `the command begins with ${program}, which only a shell takes for a variable`,
        `put env before it: env ${program} ...`,
      ),
    ];
  if (program.includes('/') && isFile(program) && !isProgram(program, environment))
    return [
      problem(
        'command.not_executable',
        `${program} may not be executed`,
        `chmod +x ${program}, also in Git, or start it with its interpreter`,
      ),
    ];
  if (!isProgram(program, environment))
    return [
      problem(
        'command.not_found',
        `there is no program ${program} ${program.includes('/') ? 'here' : 'in the PATH'}`,
        findAbove(`node_modules/.bin/${program}`)
          ? `give it as npx ${program}, or as node_modules/.bin/${program}`
          : 'install it before the tests run, or give its path',
      ),
    ];
  const at = words.findIndex(word => /^(.*\/)?npx$/.test(word));
  const called = at < 0 ? undefined : words.slice(at + 1).find(word => !word.startsWith('-'));
  if (!called || !/^[\w.-]+$/.test(called) || findAbove(`node_modules/.bin/${called}`)) return [];
  return [
    warning(
      'command.not_installed',
      `npx finds no ${called} in node_modules, and would fetch a package of that name, on each node`,
      'install the packages (npm ci) before this step, or start in the folder of the package',
    ),
  ];
}

function isProgram(program: string, { PATH = '' }: Environment): boolean {
  return which.sync(program, { path: PATH, nothrow: true }) !== null;
}

/** Whether the files of a batch get to the runner. */
function placeFindings({ command, files, script }: ReadCommand): Finding[] {
  const fault = commandFault(command, files ?? []);
  if (fault !== null) return [problem('command.files', fault.what, fault.remedy)];
  const isPlaced = readsListFile(command) || command.some(arg => arg === '{}' || arg.includes('{,}'));
  const within = command.find(arg => arg !== '{}' && arg.includes('{}'));
  if (within !== undefined && script === null && !isPlaced)
    return [
      problem(
        'command.files',
        `{} within the argument ${within} is not replaced`,
        `give {} as an argument of its own, or ${within.replace('{}', '{,}')} for all files with commas`,
      ),
    ];
  // A loop without a list is over the arguments: for file; do
  const usesArguments = script !== null && /\$\{?[@*\d]|\{,\}|\bfor\s+\w+\s*(;|\n|\sdo\b)/.test(script);
  if (script !== null && !readsListFile(command) && !usesArguments)
    return [
      problem(
        'command.files',
        `the script after ${command[0]} -c does not use its arguments, so it does not run the files of the batch${script.includes('{}') ? '; {} within an argument is not replaced' : ''}`,
        `use "$@" in the script, and pass the files behind it: ${command[0]} -c '... "$@"' ${command[0]} {}`,
      ),
    ];
  return isPlaced ? [] : [fine('command.appended', 'the command has no {}: the files of a batch are appended to it')];
}

interface Trap {
  id: string;
  /** Matches a word of the command. */
  words: RegExp;
  /** Of which runners; missing: of all. */
  of?: readonly Runner[];
  level: 'warning' | 'error';
  /** As the end of "WORD ...". */
  what: string;
  remedy: string;
}

const LEAVE_OUT = 'leave it out: Ballast decides which node runs which file';

const SHARDS = {
  id: 'shards',
  level: 'error',
  what: 'divides the files of each batch once more, so most of them would silently not run',
  remedy: LEAVE_OUT,
} as const;
const FILTERS_FILES = {
  id: 'filters_files',
  level: 'error',
  what: 'leaves out files of a batch by itself, so they would silently not run',
  remedy: LEAVE_OUT,
} as const;
const WATCHES = {
  id: 'watches',
  level: 'error',
  what: 'does not end, so the first batch would never end',
  remedy: 'leave it out',
} as const;
const STOPS_EARLY = {
  id: 'stops_early',
  level: 'warning',
  what: 'ends a batch at its first failure: its other files run only when the node is retried',
  remedy: 'leave it out',
} as const;

/** Flags and programs that choose, order or stop tests themselves. */
const TRAPS: readonly Trap[] = [
  {
    id: 'shards',
    of: ['cypress'],
    words: /^--parallel$/,
    level: 'error',
    what: 'has the service of Cypress divide the files of each batch among the nodes, so most of them would silently not run',
    remedy: LEAVE_OUT,
  },
  // --group of PHPUnit and of runners for jest is a group of tests, not a part of the suite.
  { ...SHARDS, of: ['pytest'], words: /^--group(=|$)/ },
  {
    ...SHARDS,
    words: /^--(shard|test-shard|splits|num-shards|shard-id|shard-count|shard-index|test-group|test-group-count|split-by)(=|$)/,
  },
  {
    id: 'wrapper',
    words: /^(.*\/)?(knapsack(-pro)?(-\w+)?|knapsack(_pro)?:[\w:]+|split-tests?|circleci-tests)$/,
    level: 'error',
    what: 'divides the tests itself, so files of a batch would silently not run',
    remedy: 'give the command of the runner itself, with {}',
  },
  {
    ...FILTERS_FILES,
    of: ['jest'],
    words: /^(-o|-f|--(onlyChanged|onlyFailures|changedSince|lastCommit|changedFilesWithAncestor|findRelatedTests))(=|$)/,
  },
  { ...FILTERS_FILES, of: ['vitest', 'playwright'], words: /^--(changed|only-changed|last-failed)(=|$)/ },
  { ...FILTERS_FILES, of: ['pytest'], words: /^--(lf|last-failed|testmon|picked|sw|stepwise)(=|$)/ },
  { ...FILTERS_FILES, of: ['rspec'], words: /^--(only-failures|next-failure)$/ },
  { ...WATCHES, words: /^--(watch|watchAll)$/ },
  // --ui of mocha is the style in which tests are written.
  { ...WATCHES, of: ['vitest', 'playwright'], words: /^--ui$/ },
  {
    id: 'no_tests_pass',
    words: /^--(passWithNoTests|pass-with-no-tests)(=true)?$/,
    level: 'warning',
    what: 'lets a batch pass in which the runner found none of its files',
    remedy: 'leave it out, or give queue --junit and --fail-unreported; name files without tests by --may-be-empty',
  },
  { ...STOPS_EARLY, words: /^(--(bail|exitfirst|maxfail|fail-fast|failfast|stop-on-failure|max-failures)|-failfast)(=|$)/ },
  { ...STOPS_EARLY, of: ['pytest', 'playwright'], words: /^-x$/ },
  { ...STOPS_EARLY, of: ['jest', 'mocha'], words: /^-b$/ },
  {
    id: 'shuffles',
    words: /^(--(shuffle|sequence\.shuffle|randomize|random-order|random-order-bucket|randomly-seed|order-by)|-shuffle)(=|$)/,
    level: 'warning',
    what: 'changes the order within a batch only: batches differ from run to run, so its seed does not repeat an order',
    remedy: 'to repeat an order, run the files of the batch by hand, with the seed that the runner printed',
  },
  {
    id: 'parallel_groups',
    words: /^(.*\/)?(parallel_(rspec|test|cucumber|spinach)|turbo_tests)$/,
    level: 'warning',
    what: 'runs the files of a batch in several processes, which overwrite the report of each other',
    remedy: 'write a report for each process (TEST_ENV_NUMBER in its name), and give --junit a glob',
  },
  {
    id: 'workers',
    of: ['pytest'],
    words: /^(-n(\d+|auto|logical)?|--numprocesses|--dist)(=|$)/,
    level: 'warning',
    what: '(pytest-xdist) runs tests of a batch side by side: if it divides files, the times of one file add up to more than it lasted',
    remedy: 'add --dist=loadfile, so that one worker runs all tests of a file',
  },
  {
    id: 'filters_tests',
    of: ['jest', 'vitest', 'playwright', 'pytest', 'rspec', 'mocha', 'phpunit', 'go test'],
    words: /^(--(grep|testNamePattern|test-name-pattern|tag|filter)|-t|-g|-k|-m|-run)(=|$)/,
    level: 'warning',
    what: 'selects test cases, so the report may not mention files of which it selects none',
    remedy: 'name these files by --may-be-empty, or leave it out',
  },
];

function flagFindings({ words, runner, flags }: ReadCommand): Finding[] {
  const findings: Finding[] = [];
  for (const { id, words: pattern, of, level, what, remedy } of TRAPS) {
    if (of && (runner === null || !of.includes(runner))) continue;
    const word = (/^(wrapper|parallel_groups)$/.test(id) ? words : flags).find(each => pattern.test(each));
    if (word === undefined || (id === 'workers' && /(^| )--dist[= ]load(file|group)( |$)/.test(flags.join(' ')))) continue;
    findings.push({ id: `command.${id}`, level, sentence: `${word} ${what}`, remedy });
  }
  const circle = words.findIndex((word, i) => word === 'circleci' && words[i + 1] === 'tests');
  if (circle >= 0)
    findings.push(
      problem(
        'command.wrapper',
        'circleci tests divides the tests itself, so files of a batch would silently not run',
        'give the command of the runner itself, with {}',
      ),
    );
  return findings;
}

/** Characters that have a meaning in a regular expression, and occur in names of files. A dot matches itself, too. */
const REGEXP = /[[\](){}+?*^$|]/;

function runnerFindings({ runner, flags, files }: ReadCommand): Finding[] {
  const special = files?.filter(path => REGEXP.test(path)) ?? [];
  const skipped = (id: string, how: string, remedy: string) =>
    problem(`command.${id}`, `${runner} reads its arguments as ${how}, and would silently skip ${abbreviate(special)}`, remedy);
  switch (runner) {
    case 'jest': {
      if (flags.includes('--runTestsByPath')) return [];
      const remedy = 'put --runTestsByPath before {}';
      if (special.length > 0) return [skipped('jest_patterns', 'patterns', remedy)];
      return [
        warning(
          'command.jest_patterns',
          'jest reads its arguments as patterns: a.test.js also runs lib/a.test.js, and names with [ or + are skipped',
          remedy,
        ),
      ];
    }
    case 'playwright': {
      const remedy = 'give the paths as --test-list {file} instead, as in the recipe for Playwright of "Any test runner"';
      return special.length === 0 || flags.some(word => word.startsWith('--test-list'))
        ? []
        : [skipped('playwright_patterns', 'regular expressions', remedy)];
    }
    case 'mocha':
      return special.length === 0 ? [] : [skipped('mocha_globs', 'globs', 'rename these files, and give queue --fail-unreported')];
    case 'vitest': {
      const within = files ? containedPaths(files) : [];
      const run = flags.some(word => word === 'run' || /^--(run|watch=false)$/.test(word));
      return [
        ...(run
          ? []
          : [warning('command.watches', 'vitest without "run" watches the files at a terminal, and does not end', 'give vitest run')]),
        ...(within.length > 0
          ? [
              warning(
                'command.vitest_substrings',
                `vitest runs each file whose path contains an argument: ${within[0]![0]} also runs ${within[0]![1]}${within.length > 1 ? `, and ${within.length - 1} more` : ''}`,
                'rename one of them; otherwise both run, and one of them twice',
              ),
            ]
          : []),
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
  return [
    warning(
      'command.rspec_excludes',
      `RSpec ignores --exclude-pattern for files that it gets by name, so ${pluralize(excluded.length, 'listed file')} that it leaves out without Ballast would run: ${abbreviate(excluded)}`,
      `leave them out of the list, too: ${globs.map(pattern => `'!${pattern}'`).join(' ')}`,
    ),
  ];
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

/** What loses the exit code of the runner in a shell script. */
function shellFindings({ script, reports, command }: ReadCommand): Finding[] {
  if (script === null) return [];
  const options = command.slice(1).join(' ');
  const isPiped = /\s\|&?\s/.test(script.replace(/"[^"]*"|'[^']*'/g, '')) && !/pipefail/.test(`${options} ${script}`);
  const isIgnored = /\|\|\s*(true|:)(\s|;|$)|;\s*(true|exit 0)\s*$/.test(script);
  if (!isPiped && !isIgnored) return [];
  const what =
    isPiped && !isIgnored
      ? 'a pipe in the script ends with the exit code of its last command'
      : 'the script ends with 0 whatever the runner ends with';
  const remedy =
    isPiped && !isIgnored ? 'use bash -o pipefail -c, or leave the pipe out' : 'let the script end with the exit code of the runner';
  if (reports.length > 0) return [warning('command.exit_code', `${what}: only failures in reports then fail a batch`, remedy)];
  return [
    problem(
      'command.exit_code',
      `${what}, and no --junit names reports: failed tests would pass`,
      `${remedy}; or have the runner write reports, and name them with --junit`,
    ),
  ];
}

/** What in the command makes each runner write a report. */
const WRITES_REPORT: Partial<Record<Runner, [RegExp, string]>> = {
  jest: [/jest-junit|--json/, '--reporters=default --reporters=jest-junit'],
  vitest: [/--reporter[= ]?(junit|json)|^(junit|json)$/, '--reporter=default --reporter=junit --outputFile.junit=vitest.xml'],
  playwright: [/junit/, '--reporter=line,junit, with PLAYWRIGHT_JUNIT_OUTPUT_NAME'],
  pytest: [/--junit-?xml/, '--junitxml=pytest.xml'],
  'node --test': [/^--test-reporter(=|$)/, '--test-reporter=junit --test-reporter-destination=node.xml'],
  rspec: [/^json$|--format=json|[Jj]unit|^-fj$/, '--format progress --format json --out rspec.json'],
};

function reportFindings({ runner, words, reports, environment }: ReadCommand): Finding[] {
  const [writes, flags] = (runner && WRITES_REPORT[runner]) ?? [null, ''];
  if (reports.length === 0)
    return [
      warning(
        'command.no_reports',
        'no --junit names reports, so the time of a batch is divided among its files by estimates, and a failed file is not known',
        flags === '' ? 'have the runner write reports, and name them with --junit' : `add ${flags}, and name the file with --junit`,
      ),
    ];
  if (writes === null) return [];
  if (!words.some(word => writes.test(word)))
    return [
      warning(
        'command.writes_no_report',
        `nothing in the command has ${runner} write a report; its configuration may`,
        `add ${flags}, unless the configuration has it`,
      ),
    ];
  if (runner === 'node --test' && !NODE_NAMES_FILES && words.some(word => /^(--test-reporter=)?junit$/.test(word)))
    return [
      problem(
        'command.node_junit',
        `the JUnit reports of node --test name no files before Node 24, and this is Node ${process.versions.node}`,
        'run the tests with Node 24 or later, or leave out --junit and --fail-unreported: the time of a batch is then divided among its files by estimates',
      ),
    ];
  const isJestJunit = runner === 'jest' && words.some(word => /jest-junit/.test(word)) && !environment.JEST_JUNIT_ADD_FILE_ATTRIBUTE;
  if (!isJestJunit || hasJestJunitSettings()) return [];
  return [
    warning(
      'command.jest_junit',
      'jest-junit does not write the paths of files by itself',
      'export JEST_JUNIT_ADD_FILE_ATTRIBUTE=true JEST_JUNIT_REPORT_TEST_SUITE_ERRORS=true',
    ),
  ];
}

/** Whether the JUnit reports of node --test name files. */
const NODE_NAMES_FILES = Number(process.versions.node.split('.')[0]) >= 24;

function hasJestJunitSettings(): boolean {
  const path = findAbove('package.json');
  return (
    path !== null && /"(addFileAttribute|jest-junit)"\s*:\s*["{]/.test(readFileSync(path, 'utf8').replace(/"jest-junit"\s*:\s*"/g, ''))
  );
}

/** The path of a file in this folder or the nearest one above it that has it; null: none has. */
function findAbove(path: string, folder = process.cwd()): string | null {
  const candidate = join(folder, path);
  if (isFile(candidate)) return candidate;
  return dirname(folder) === folder ? null : findAbove(path, dirname(folder));
}
