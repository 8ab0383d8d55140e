import { readFileSync, statSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { glob } from 'tinyglobby';
import { UsageError } from './usage-error.js';

/**
 * Returns the test files that the arguments name, sorted and without duplicates. An argument is a path that exists, a glob, a `!glob` of
 * files to leave out, or `-` for a list of literal paths on stdin.
 */
export async function listTestFiles(args: readonly string[], readsStdin: boolean): Promise<string[]> {
  const patterns = args.filter(arg => arg !== '-');
  const files = new Set(patterns.length > 0 ? await filesMatching(patterns) : []);
  const readsList = readsStdin || args.includes('-');
  if (readsList) for (const path of parseList(await text(process.stdin))) files.add(path);
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
  const excluded = new Set(await expand(patterns.filter(arg => arg.startsWith('!')).map(arg => arg.slice(1))));
  const included = patterns.filter(arg => !arg.startsWith('!'));
  const paths = included.filter(isFile);
  const found = await expand(included.filter(arg => !isFile(arg)));
  return [...new Set([...paths, ...found])].filter(path => !excluded.has(path));
}

/** Makes a path relative to the current folder, so that it is the same on all machines. */
export function relativeToCwd(arg: string): string {
  const path = arg.replace(/^!/, '');
  const here = `${process.cwd()}/`;
  const relative = path.startsWith(here) ? path.slice(here.length) : path.replace(/^(?:\.\/+)+/, '');
  return arg.startsWith('!') ? `!${relative}` : relative;
}

async function expand(patterns: string[]): Promise<string[]> {
  if (patterns.length === 0) return [];
  return glob(patterns, { ignore: ['**/node_modules/**'], expandDirectories: false });
}

export function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
}

/** Reads a list of test files from a file; `-` is stdin. */
export async function readList(path: string): Promise<string[]> {
  try {
    return parseList(path === '-' ? await text(process.stdin) : readFileSync(path, 'utf8'));
  } catch (error) {
    throw new UsageError([`cannot read the list of test files ${path}: ${(error as Error).message}`]);
  }
}

/** Paths are separated by NUL if the list has one, else by line breaks. */
function parseList(list: string): string[] {
  const parts = list.includes('\0') ? list.split('\0') : list.split(/\r?\n/);
  return parts.filter(part => part !== '');
}
