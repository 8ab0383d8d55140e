import { selectByPattern, wordsOf } from './name-pattern.js';
import { type NamingRunner, reportCases } from './named-cases.js';

/** Jest, with jest-circus. It ignores the case of letters. */
export const jest: NamingRunner = {
  conflicts: /^(-[a-z]*t|--test-?name-?pattern)(=|$)/i,
  filter: {
    args: () => ['--showConfig'],
    filterIn(output) {
      const [, pattern] = /"testNamePattern":\s*("(?:[^"\\]|\\.)*")/.exec(output) ?? [];
      return pattern ?? (output.includes('"globalConfig"') ? null : undefined);
    },
  },
  select: selectByPattern,
  reportsOf: (files, reported) =>
    reportCases(files, reported, {
      nameOf: ({ classname, name }, file) => fullName(classname, name, file),
      keyOf: name => wordsOf(name).join(' ').toLowerCase(),
      listsAll: true,
    }),
};

/** The templates of jest-junit may put the titles of the suites into the class only. */
function fullName(classname: string, name: string, file: string): string | null {
  if (name === '') return null;
  const hasAll = classname === '' || name.startsWith(classname) || `/${file}`.endsWith(`/${classname}`) || classname.endsWith(`/${file}`);
  return hasAll ? name : `${classname} ${name}`;
}
