import { isUtf8 } from 'node:buffer';
import fs, { readFileSync, statSync } from 'node:fs';
import path, { posix } from 'node:path';
import { buffer } from 'node:stream/consumers';
import picomatch from 'picomatch';
import { glob } from 'tinyglobby';
import { abbreviate } from '../../base/terminal.js';
import { UsageError } from '../../base/usage-error.js';

/**
 * Returns the test files that the arguments name, sorted and without duplicates. An argument is a path that exists, a glob, a `!glob` of
 * files to leave out, or `-` for a list of literal paths on stdin.
 */
export async function listTestFiles(args: readonly string[], readsStdin: boolean): Promise<string[]> {
  const patterns = args.filter(arg => arg !== '-');
  const files = new Set(patterns.length > 0 ? await filesMatching(patterns) : []);
  const readsList = readsStdin || args.includes('-');
  if (readsList) for (const path of parseList(await buffer(process.stdin))) files.add(path);
  if (files.size === 0) {
    const reasons = [
      ...(patterns.length > 0 ? [`nothing matches ${patterns.join(' ')} in ${process.cwd()}`] : []),
      ...(readsList ? ['stdin names none'] : []),
    ];
    const tried = reasons.join(', ') || 'none was named';
    throw new UsageError([
      `no test files: ${tried}; give globs (quoted, so that the shell leaves them alone), or a list on stdin with --stdin`,
    ]);
  }
  return [...files].sort();
}

/**
 * Returns the files that paths and globs name, without those in node_modules. A path that exists is taken literally, even if it looks like a
 * glob: app/[id].test.js
 */
export async function filesMatching(args: readonly string[]): Promise<string[]> {
  const patterns = args.map(relativeToCwd);
  const excluded = patterns.filter(arg => arg.startsWith('!')).map(arg => arg.slice(1));
  const included = patterns.filter(arg => !arg.startsWith('!'));
  const isExcluded = picomatch(excluded);
  const paths = included.filter(isFile).filter(path => !isExcluded(path));
  const globs = included.filter(arg => !isFile(arg));
  return [...new Set([...paths, ...(await expand(globs, excluded))])];
}

/** Style in which a machine writes paths. */
type Paths = Pick<typeof path, 'sep'>;

/** Makes a path or glob relative to the current folder, with slashes between folders, so that it is the same on all machines. */
export function relativeToCwd(arg: string): string {
  return relativeTo(process.cwd(), arg);
}

/** The same for any folder. */
export function relativeTo(folder: string, arg: string, system: Paths = path): string {
  const whole = withSlashes(arg.replace(/^!/, ''), system);
  const here = `${withSlashes(folder, system)}/`;
  const begin = whole.slice(0, here.length);
  // Windows does not tell C: from c:, and programs write both.
  const isHere = begin === here || (system.sep === '\\' && begin.toLowerCase() === here.toLowerCase());
  const relative = isHere ? whole.slice(here.length) : whole.replace(/^(?:\.\/+)+/, '');
  return arg.startsWith('!') ? `!${relative}` : relative;
}

/** On Windows folders are separated by backslashes, too. Elsewhere these are characters of a name. */
function withSlashes(text: string, { sep }: Paths): string {
  return text.replaceAll(sep, '/');
}

/** Throws a UsageError when the name of a file that matches is not UTF-8: Node decodes several such names to one that does not exist. */
async function expand(patterns: string[], excluded: readonly string[]): Promise<string[]> {
  if (patterns.length === 0) return [];
  const folders: string[] = [];
  const readdir = ((path: string, options: { withFileTypes: true }, done: (error: Error | null, entries: fs.Dirent[]) => void) =>
    fs.readdir(path, options, (error, entries) => {
      if (entries?.some(({ name }) => name.includes('\ufffd'))) folders.push(path);
      done(error, entries);
    })) as typeof fs.readdir;
  const ignore = ['**/node_modules/**', ...excluded];
  const found = await glob(patterns, { ignore, expandDirectories: false, fs: { ...fs, readdir } });
  const matches = picomatch(patterns, { ignore });
  const misnamed = folders.flatMap(folder => filesNotUtf8(Buffer.from(folder.endsWith('/') ? folder : `${folder}/`)));
  assertUtf8(misnamed.filter(path => matches(posix.relative(process.cwd(), path.toString()))));
  return found;
}

/** The files below a folder whose paths are not UTF-8, in bytes. @param folder ends with a slash */
function filesNotUtf8(folder: Buffer): Buffer[] {
  return fs.readdirSync(folder, { withFileTypes: true, encoding: 'buffer' }).flatMap(entry => {
    const name = entry.name as unknown as Buffer;
    if (isUtf8(folder) && isUtf8(name)) return [];
    return entry.isDirectory() ? filesNotUtf8(Buffer.concat([folder, name, Buffer.from('/')])) : [Buffer.concat([folder, name])];
  });
}

/** Throws a UsageError that names the paths that are not UTF-8. */
function assertUtf8(paths: readonly Buffer[]): void {
  const names = paths.filter(path => !isUtf8(path)).map(path => path.toString('latin1').replace(/[^ -~]/g, byteEscape));
  if (names.length > 0)
    throw new UsageError([`the names of these test files are not UTF-8: ${abbreviate(names)}; rename them, or leave them out`]);
}

const byteEscape = (byte: string) => `\\x${byte.charCodeAt(0).toString(16).padStart(2, '0')}`;

/** Returns whether a test file matches one of the globs that --may-be-empty names. */
export function emptyTest(globs: readonly string[] = []): (path: string) => boolean {
  return globs.length === 0 ? () => false : picomatch(globs.map(relativeToCwd), { dot: true });
}

export function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
}

export function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

/** Reads a list of test files from a file; `-` is stdin. */
export async function readList(path: string): Promise<string[]> {
  try {
    return parseList(path === '-' ? await buffer(process.stdin) : readFileSync(path));
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError([`cannot read the list of test files ${path}: ${(error as Error).message}`]);
  }
}

/** Returns the paths of a list. They are separated by NUL if it has one, else by line breaks. Throws a UsageError if some are not UTF-8. */
export function parseList(list: Buffer, system: Paths = path): string[] {
  const separator = list.includes(0) ? '\0' : /\r?\n/;
  if (!isUtf8(list)) assertUtf8(Array.from(list.toString('latin1').split(separator), path => Buffer.from(path, 'latin1')));
  return list
    .toString()
    .replace(/^\uFEFF/, '')
    .split(separator)
    .filter(part => part !== '')
    .map(part => withSlashes(part, system));
}
