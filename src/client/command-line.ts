import { divide } from '../divide.js';

/**
 * Returns the command with the paths of a batch. `{}` becomes one argument for each path. `{,}` within an argument becomes all paths,
 * separated by commas. Without either, the paths are appended.
 */
export function commandLine(command: readonly string[], files: readonly string[]): string[] {
  // The command would take a path that begins with a dash for a flag.
  const paths = files.map(path => (path.startsWith('-') ? `./${path}` : path));
  if (!command.some(arg => arg === '{}' || arg.includes('{,}'))) return [...command, ...paths];
  const joined = paths.join(',');
  return command.flatMap(arg => (arg === '{}' ? paths : [arg.replaceAll('{,}', () => joined)]));
}

/** Returns why the command would not run all of its files; null: no reason is known. */
export function commandError(command: readonly string[], files: readonly string[]): string | null {
  const withComma = command.some(arg => arg.includes('{,}')) ? files.find(path => path.includes(',')) : undefined;
  if (withComma !== undefined) return `{,} cannot pass on the test file ${withComma}, because its path has a comma: use {}`;
  const flag = /^(.*\/)?\w*sh$/.test(command[0] ?? '') ? command.findIndex(arg => /^-[a-z]*c$/.test(arg)) : -1;
  return flag > 0 && losesFirstFile(command, flag)
    ? `the script would get the first test file as $0, and would not run it: put a name before the files, as in ${command[0]} ${command[flag]} '... "$@"' ${command[0]} {}`
    : null;
}

/** Reports whether a shell script, given behind the flag, reads its files from $@ while the first of them is $0. */
function losesFirstFile(command: readonly string[], flag: number): boolean {
  const script = command[flag + 1] ?? '';
  const isFileZero = commandLine(command, ['\0'])[flag + 2] === '\0';
  return isFileZero && /\$\{?[@*1]/.test(script) && !/\$\{?0/.test(script);
}

/** Limit on the paths of one command. Linux allows 131,072 bytes in one argument; npx passes the whole command as one. */
const MAX_PATH_BYTES = 100_000;

/** Divides the files of a batch into parts whose paths fit into one command each. */
export function splitByLength<File extends { path: string }>(files: readonly File[], maxBytes = MAX_PATH_BYTES): File[][] {
  return divide(files, maxBytes, ({ path }) => Buffer.byteLength(path) + 1);
}
