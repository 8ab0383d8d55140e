import { hash } from 'node:crypto';
import { divide } from '../../../base/divide.js';
import type { Fault } from '../../../base/usage-error.js';

/** Not the variable of a shell, `${file}`. */
const LIST_FILE = /(?<!\$)\{file\}/g;

/** Reports whether the command reads the paths of a batch from a file. */
export function readsListFile(command: readonly string[]): boolean {
  return command.some(arg => arg.search(LIST_FILE) >= 0);
}

function takesPaths(command: readonly string[]): boolean {
  return command.some(arg => arg === '{}' || arg.includes('{,}'));
}

/** Returns the command with the path of the file that has the paths of a batch, in place of each `{file}` within an argument. */
export function commandWithListFile(command: readonly string[], listFile: string): string[] {
  return command.map(arg => arg.replace(LIST_FILE, () => listFile));
}

/**
 * Returns the command with the paths of a batch. `{}` becomes one argument for each path. `{,}` within an argument becomes all paths,
 * separated by commas. Without either, the paths are appended.
 *
 * @param more arguments behind the paths, or at the end if there is no `{}`
 */
export function commandLine(command: readonly string[], files: readonly string[], more: readonly string[] = []): string[] {
  // The command would take a path that begins with a dash for a flag.
  const paths = files.map(path => (path.startsWith('-') ? `./${path}` : path));
  if (!takesPaths(command)) return [...command, ...paths, ...more];
  const joined = paths.join(',');
  const filled = command.flatMap(arg => (arg === '{}' ? [...paths, ...more] : [arg.replaceAll('{,}', () => joined)]));
  return command.includes('{}') ? filled : [...filled, ...more];
}

/** Returns the command with the paths of a batch, and the file that it reads them from, as a line for a shell. */
export function shellLine(command: readonly string[], files: readonly string[]): string {
  const line = (words: readonly string[]) => words.map(shellWord).join(' ');
  if (!readsListFile(command)) return line(commandLine(command, files));
  return `printf '%s\\n' ${line(files)} > files.txt; ${line(commandWithListFile(command, 'files.txt'))}`;
}

/** Returns a word as a shell reads it. */
export function shellWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/** Returns the digest of a command as the user gave it, which is the same for all batches: see `command_digest` in Checkout. */
export function commandDigest(command: readonly string[]): string {
  return hash('sha256', command.map(arg => `${arg}\0`).join(''), 'hex');
}

/** Returns why the command would not run all of its files; null: no reason is known. */
export function commandFault(command: readonly string[], files: readonly string[]): Fault | null {
  const withComma = command.some(arg => arg.includes('{,}')) ? files.find(path => path.includes(',')) : undefined;
  if (withComma !== undefined)
    return { what: `{,} cannot pass on the test file ${withComma}, because its path has a comma`, remedy: 'use {}' };
  const readsList = readsListFile(command);
  if (readsList && takesPaths(command))
    return { what: 'the command has {file} and also {} or {,}, and would get its test files twice', remedy: 'keep one of them' };
  const withBreak = readsList ? files.find(path => /[\r\n]/.test(path)) : undefined;
  if (withBreak !== undefined)
    return {
      what: `{file} cannot pass on the test file ${JSON.stringify(withBreak)}, because its path has a line break`,
      remedy: 'use {}, or rename it',
    };
  const flag = scriptFlag(command);
  if (flag < 0 || !losesFirstFile(command, flag)) return null;
  const [shell] = command;
  const [lost, it, place, argument] = readsList ? ['{file}', 'it', '{file}', '$1'] : ['the first test file', 'the files', '{}', '$@'];
  return {
    what: `the script would get ${lost} as $0, and would not run it`,
    remedy: `put a name before ${it}, as in ${shell} ${command[flag]} '... "${argument}"' ${shell} ${place}`,
  };
}

/** Returns the position of the flag, such as -ec, behind which a shell gets its script; -1: the command is none with a script. */
export function scriptFlag([program = '', ...args]: readonly string[]): number {
  if (!/^(.*\/)?(a|ba|da|k|z)?sh$/.test(program)) return -1;
  const at = args.findIndex(arg => /^-[a-z]*c$/.test(arg));
  return at < 0 ? -1 : at + 1;
}

/** Reports whether a shell script, given behind the flag, reads its files from $@ while the first of them is $0. */
function losesFirstFile(command: readonly string[], flag: number): boolean {
  const script = command[flag + 1] ?? '';
  const given = readsListFile(command) ? commandWithListFile(command, '\0') : commandLine(command, ['\0']);
  const isFileZero = given[flag + 2] === '\0';
  return isFileZero && /\$\{?[@*1]/.test(script) && !/\$\{?0/.test(script);
}

/** Limit on the paths of one command. Linux allows 131,072 bytes in one argument; npx passes the whole command as one. */
const MAX_PATH_BYTES = 100_000;

/** Divides the files of a batch into parts whose paths fit into one command each. */
export function splitByLength<File extends { path: string }>(files: readonly File[], maxBytes = MAX_PATH_BYTES): File[][] {
  return divide(files, maxBytes, ({ path }) => Buffer.byteLength(path) + 1);
}
