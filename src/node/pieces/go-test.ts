import { spawnSync } from 'node:child_process';
import { emptyCase, type TestCase } from '../reports/test-case.js';
import { anyOf, MAX_EXPRESSION_BYTES, type NamingRunner, reportCases } from './named-cases.js';

/**
 * The go command from 1.20 on: older ones end with an error at -skip. A file is a package, and a case a function of it: a test with its
 * subtests, an example, or the seeds of a fuzz test.
 */
export const goTest: NamingRunner = {
  conflicts: /^--?(test\.)?(run|skip|list)(=|$)/,
  added: {
    variable: 'GOFLAGS',
    flags(words, environment) {
      // `go env -w` writes it to a file, and a script may set it.
      const { stdout } = spawnSync('go', ['env', 'GOFLAGS'], { env: environment, encoding: 'utf8' });
      const at = words.findIndex(word => word.startsWith('GOFLAGS='));
      const assigned = at < 0 ? [] : words.slice(at, words.indexOf('go', at));
      return [stdout ?? environment.GOFLAGS ?? '', ...assigned].join(' ').split(/(?:GOFLAGS=|[\s'"])+/);
    },
  },
  select(piece) {
    const names = piece?.others ?? piece?.cases;
    if (!piece || !names || piece.others?.length === 0) return { args: [], environment: {} };
    const flag = `${piece.others ? '-skip' : '-run'}=^${anyOf(names.map(name => [...name]))}$`;
    return Buffer.byteLength(flag) > MAX_EXPRESSION_BYTES ? null : { args: [flag], environment: {} };
  },
  reportsOf: (files, reported) =>
    reportCases(files, new Map([...reported].map(([file, cases]) => [file, asFunctions(cases)])), {
      nameOf: ({ name }) => (FUNCTION.test(name) ? name : null),
      keyOf: name => name,
      listsAll: false,
    }),
};

const FUNCTION = /^(Test|Example|Fuzz)[\p{L}\p{N}_]*$/u;

/** Returns each function and subtest once, however often it was tried, by the name of the function. The time of a function has its subtests. */
function asFunctions(cases: readonly TestCase[]): TestCase[] {
  const tried = new Map<string, TestCase>();
  for (const testCase of cases) {
    const before = tried.get(testCase.name) ?? emptyCase;
    tried.set(testCase.name, { ...testCase, seconds: before.seconds + testCase.seconds, isFailed: before.isFailed || testCase.isFailed });
  }
  return [...tried.values()].map(testCase => {
    const [name = '', subtest] = testCase.name.split('/', 2);
    return subtest === undefined ? testCase : { ...testCase, name, seconds: 0 };
  });
}
