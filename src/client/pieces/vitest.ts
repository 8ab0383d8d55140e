import { selectByPattern, wordsOf } from './name-pattern.js';
import { type NamingRunner, tellCases } from './named-cases.js';

/** Vitest from version 3 on. */
export const vitest: NamingRunner = {
  conflicts: /^(-t|--test-?name-?pattern)(=|$)/i,
  select: selectByPattern,
  told: (files, reported) =>
    tellCases(files, reported, {
      // A file that cannot be loaded gets a case with its path.
      nameOf: ({ name, suite }) => (name === '' || name === suite.name ? null : name),
      keyOf: name => wordsOf(name).join(' '),
      listsAll: true,
    }),
};
