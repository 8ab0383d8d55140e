import { execFile } from 'node:child_process';
import { realpathSync, statSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { isAbsolute, join, sep } from 'node:path';

/** The tree of the commit that is checked out, or why there is none. */
export type TreeState = WorkTree | { tree: null; why: string };

interface WorkTree {
  tree: string;
  /** From the root of the repository on, with a slash at its end; '' at the root. */
  folder: string;
  /** The first cause for which the files may differ from the tree; null: they do not. */
  why: string | null;
}

/**
 * Reads which tree a folder has checked out, and whether the files of the whole work tree may differ from it. Two nodes with the same unchanged
 * tree run the same files, so any doubt counts as a change. It writes nothing.
 *
 * What it takes from Git:
 * - Files that Git ignores are not of the tree, whoever ignores them.
 * - A file is unchanged if its size, times and inode are those that the index has, unless it is as young as the index. Git reads only others,
 *   so it misses a change after which all of these are as before.
 * - Line breaks and $Id$ that attributes or core.autocrlf convert are no change. A checkout with others is one of another platform.
 */
export async function readTree(folder: string, environment: NodeJS.ProcessEnv, seconds = 20): Promise<TreeState> {
  const stop = AbortSignal.timeout(seconds * 1000);
  try {
    return await readWorkTree(folder, environment, stop);
  } catch (error) {
    return { tree: null, why: stop.aborted ? `git took longer than ${seconds} s` : (error as Error).message };
  }
}

async function readWorkTree(cwd: string, environment: NodeJS.ProcessEnv, stop: AbortSignal): Promise<WorkTree> {
  const git: Git = (args, input) => runGit(cwd, environment, stop, args, input);
  const facts = await git([
    ...['rev-parse', '--is-inside-work-tree', 'HEAD^{tree}', '--show-prefix'],
    ...['--git-path', 'info/attributes', '--glob=refs/replace/*'],
  ]);
  const [isInside, tree = '', folder = '', attributes = '', ...replacements] = facts.trimEnd().split('\n');
  if (isInside !== 'true') throw new Error('the folder is in no work tree');
  if (![tree, ...replacements].every(isHash) || folder.includes('\ufffd')) {
    throw new Error('the path of the folder has a line break, or is not UTF-8');
  }
  const [status, index, filtered] = await Promise.all([
    git(['status', '--porcelain', '-z', '--untracked-files=normal', '--ignore-submodules=dirty', '--no-renames']),
    git([...LIST, ':(top)']),
    git([...LIST, ':(top)', ':(top,exclude,attr:!filter)', ':(top,exclude,attr:-filter)']),
  ]);
  const entries = entriesOf(index);
  // Behind a link to a folder, .. is the parent of what it links to: paths are not normalized.
  const up = folder.replace(/[^/]+/g, '..');
  const why =
    statusChange(status) ??
    markChange(entries) ??
    (folder === '' || entries.some(({ path }) => path.startsWith(folder)) ? null : `no file in ${folder} is committed`) ??
    // Both change what a checkout writes, and the index takes it for what is committed.
    (replacements.length > 0 ? 'refs/replace has objects that stand for others' : null) ??
    (statSync(inFolder(cwd, attributes), { throwIfNoEntry: false })?.size
      ? 'info/attributes has attributes that are not committed'
      : null) ??
    (await filterChange(entriesOf(filtered), up, git, path => isPointer(inFolder(cwd, path)))) ??
    (await submoduleChange(entries, path => readWorkTree(inFolder(cwd, up + path), withoutRepository(environment), stop)));
  return { tree, folder, why };
}

/**
 * Returns the first of some test files that lies outside of the work tree, or links to one that does, so that the tree does not fix it; null: none
 * does.
 *
 * @param cwd the folder from which the paths start
 * @param folder the same, from the root of the repository on, as in WorkTree
 */
export function fileOutside(paths: readonly string[], cwd: string, folder: string): string | null {
  const root = join(realpathSync.native(cwd), folder.replace(/[^/]+/g, '..'), sep);
  const isOutside = (path: string) => {
    try {
      return !realpathSync.native(inFolder(cwd, path)).startsWith(root);
    } catch {
      // There is no such file.
      return false;
    }
  };
  return paths.find(isOutside) ?? null;
}

function inFolder(folder: string, path: string): string {
  return isAbsolute(path) ? path : `${folder}/${path}`;
}

const isHash = (text: string) => /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(text);
const LIST = ['ls-files', '-z', '-v', '--stage', '--full-name', '--'];

interface IndexEntry {
  /** H: none. S: skip-worktree. A small letter: assume-unchanged. */
  mark: string;
  mode: string;
  path: string;
}

function entriesOf(list: string): IndexEntry[] {
  return Array.from(list.matchAll(/(\S) (\d+) [^\t]+\t([^\0]+)\0/g), ([, mark, mode, path]) => ({ mark: mark!, mode: mode!, path: path! }));
}

/** The files of Ballast that a CI job fetches from its server. No test depends on them. */
const CLIENT_FILE = /^\?\? (?:.*\/)?ballast(?:(?:-(?:jest|node-test|playwright|vitest))?\.mjs|_pytest\.py)$/s;

function statusChange(status: string): string | null {
  const entry = status.split('\0').find(each => each !== '' && !CLIENT_FILE.test(each));
  if (entry === undefined) return null;
  const [states, path] = [entry.slice(0, 2), entry.slice(3)];
  if (/U|AA|DD/.test(states)) return `${path} has a conflict`;
  if (/[?A]/.test(states)) return `${path} is not committed`;
  return `${path} is ${states.includes('D') ? 'deleted' : 'changed'}`;
}

/** The status has no files with marks. */
function markChange(entries: readonly IndexEntry[]): string | null {
  const marked = entries.find(({ mark }) => mark !== 'H');
  if (!marked) return null;
  return `${marked.path} is marked ${marked.mark === 'S' ? 'skip-worktree: the checkout is sparse' : 'assume-unchanged'}`;
}

/** What a filter makes of a file depends on the node. Git LFS makes what its pointer names, or leaves the pointer, which is no change for Git. */
async function filterChange(
  entries: readonly IndexEntry[],
  up: string,
  git: Git,
  isPointer: (path: string) => Promise<boolean>,
): Promise<string | null> {
  const paths = entries.filter(({ mode }) => mode.startsWith('100')).map(({ path }) => path);
  if (paths.length === 0) return null;
  const fields = (await git(['check-attr', '-z', '--stdin', 'filter'], paths.map(path => `${up}${path}\0`).join(''))).split('\0');
  for (const [i, path] of paths.entries()) {
    if (fields[i * 3 + 2] !== 'lfs') return `${path} has what a filter made of it`;
    if (await isPointer(up + path)) return `${path} is a pointer of Git LFS`;
  }
  return null;
}

async function isPointer(path: string): Promise<boolean> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(12), 0, 12, 0);
    return buffer.toString('latin1', 0, bytesRead) === 'version http';
  } finally {
    await file.close();
  }
}

/** Marks and settings of a submodule hide its changes from the status of the repository, except that of its commit. */
async function submoduleChange(entries: readonly IndexEntry[], read: (path: string) => Promise<WorkTree>): Promise<string | null> {
  for (const { path } of entries.filter(({ mode }) => mode === '160000')) {
    const { folder, why } = await read(path);
    // Then it is a folder of the repository itself.
    if (folder !== '') return `the submodule ${path} is not checked out`;
    if (why !== null) return `in the submodule ${path}, ${why}`;
  }
  return null;
}

type Git = (args: readonly string[], input?: string) => Promise<string>;

/** Settings of a repository that would hide changes. On Windows no file has the mode of a program, and a link may be a file. */
const STRICT = [
  ...['core.fsmonitor=false', 'core.untrackedCache=false', 'core.checkStat=default', 'core.trustctime=true', 'core.ignoreCase=false'],
  ...(process.platform === 'win32' ? [] : ['core.fileMode=true', 'core.symlinks=true']),
].flatMap(setting => ['-c', setting]);

/** Runs Git, and rejects with what it complains about: after a warning it may have left something out. */
function runGit(folder: string, environment: NodeJS.ProcessEnv, stop: AbortSignal, args: readonly string[], input = ''): Promise<string> {
  const env = { ...environment, LC_ALL: 'C', GIT_LITERAL_PATHSPECS: '0', GIT_ATTR_SOURCE: undefined };
  const options = { cwd: folder, env, signal: stop, killSignal: 'SIGKILL', maxBuffer: 2 ** 28 } as const;
  return new Promise((resolve, reject) => {
    const { stdin } = execFile('git', ['--no-optional-locks', '--no-replace-objects', ...STRICT, ...args], options, (error, out, err) => {
      const complaint = /^(?:fatal|error|warning): (.*)/m.exec(err)?.[1] ?? error?.message.split('\n')[0];
      if (complaint === undefined) resolve(out);
      else reject(new Error(complaint.includes("'HEAD^{tree}'") ? 'there is no commit yet' : complaint));
    });
    // It may end without reading.
    stdin!.on('error', () => {});
    stdin!.end(input);
  });
}

/** The environment without what names a repository or its parts. */
function withoutRepository(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(environment).filter(([name]) => !/^GIT_(?!CONFIG|TRACE)/.test(name)));
}
