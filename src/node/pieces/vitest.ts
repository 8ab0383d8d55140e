import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { selectByPattern, wordsOf } from './name-pattern.js';
import { type NamingRunner, reportCases } from './named-cases.js';

/** A reporter that ends Vitest before its global setup. */
const REPORTER = `import { writeSync } from 'node:fs';
export default class {
  onInit({ config, projects = [] }) {
    const patterns = [config, ...projects.map(project => project.config)].flatMap(each => each.testNamePattern ?? []);
    writeSync(1, '\\nballast: [' + (patterns[0] ?? '') + ']\\n');
    process.exit(0);
  }
}
`;

/** Vitest from version 3 on. */
export const vitest: NamingRunner = {
  conflicts: /^(-t|--test-?name-?pattern)(=|$)/i,
  filter: {
    args(folder) {
      const reporter = join(folder, 'filter.mjs');
      writeFileSync(reporter, REPORTER);
      return [`--reporter=${reporter}`];
    },
    filterIn(output) {
      const [, pattern] = /ballast: \[(.*)\]\s*$/m.exec(output) ?? [];
      return pattern === '' ? null : pattern;
    },
  },
  select: selectByPattern,
  reportsOf: (files, reported) =>
    reportCases(files, reported, {
      // A file that cannot be loaded gets a case with its path.
      nameOf: ({ name, suite }) => (name === '' || name === suite.name ? null : name),
      keyOf: name => wordsOf(name).join(' '),
      listsAll: true,
    }),
};
