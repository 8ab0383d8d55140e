import type { ReadCommand, Runner } from '../client/command/read-command.js';
import { type Finding, problem } from './finding.js';

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

/** Flags and programs that choose or stop tests themselves. */
const TRAPS: readonly Trap[] = [
  {
    id: 'shards',
    of: ['cypress'],
    words: /^--parallel$/,
    level: 'error',
    what: 'has the service of Cypress divide the files of each batch among the nodes, so most of them would silently not run',
    remedy: LEAVE_OUT,
  },
  // cypress-split reads its settings from --env.
  { ...SHARDS, of: ['cypress'], words: /^(--env=|-e=)?(.+,)?split=/ },
  // --group of PHPUnit and of runners for jest is a group of tests, not a part of the suite.
  { ...SHARDS, of: ['pytest'], words: /^--group(=|$)/ },
  {
    ...SHARDS,
    words: /^--(shard|test-shard|splits|num-shards|shard-id|shard-count|shard-index|test-group|test-group-count|split-by)(=|$)/,
  },
  {
    id: 'wrapper',
    words: /^(.*\/)?(knapsack(-pro)?(-\w+)?|knapsack(_pro)?:[\w:]+|split[-_]tests?|bktec)$/,
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
    remedy: 'leave it out, or give queue --junit and --fail-unreported; name files without tests with --may-be-empty',
  },
  { ...STOPS_EARLY, words: /^(--(bail|exitfirst|maxfail|fail-fast|failfast|stop-on-failure|max-failures)|-failfast)(=|$)/ },
  { ...STOPS_EARLY, of: ['pytest', 'playwright'], words: /^-x$/ },
  { ...STOPS_EARLY, of: ['jest', 'mocha'], words: /^-b$/ },
  {
    id: 'parallel_groups',
    words: /^(.*\/)?(parallel_(rspec|test|cucumber|spinach)|turbo_tests)$/,
    level: 'warning',
    what: "runs the files of a batch in several processes, which overwrite each other's reports",
    remedy: 'write a report for each process (TEST_ENV_NUMBER in its name), and give --junit a glob',
  },
  {
    id: 'workers',
    of: ['pytest'],
    words: /^(-n(\d+|auto|logical)?|--numprocesses|--dist)(=|$)/,
    level: 'warning',
    what: '(pytest-xdist) runs tests of a batch in parallel: if it divides a file, the times of its tests add up to more than the file took',
    remedy: 'add --dist=loadfile, so that one worker runs all tests of a file',
  },
  {
    id: 'filters_tests',
    of: ['jest', 'vitest', 'playwright', 'pytest', 'rspec', 'mocha', 'phpunit', 'go test'],
    words: /^(--(grep|testNamePattern|test-name-pattern|tag|filter)|-t|-g|-k|-m|-run)(=|$)/,
    level: 'warning',
    what: 'selects test cases, so the report may not mention files of which it selects none',
    remedy: 'name these files with --may-be-empty, or leave the selection out',
  },
];

/** Says which words of a command have its runner skip, divide or stop tests. */
export function flagFindings({ words, runner, flags }: ReadCommand): Finding[] {
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
      ...problem(
        'command.wrapper',
        'circleci tests divides the tests itself, so files of a batch would silently not run',
        'give the command of the runner itself, with {}',
      ),
    );
  return findings;
}
