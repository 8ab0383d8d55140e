import { realpathSync } from 'node:fs';
import { basename, dirname, extname, isAbsolute, sep } from 'node:path';
import { glob } from 'tinyglobby';
import { agree, pluralize } from '../../base/plural.js';
import { abbreviate } from '../../base/terminal.js';
import { UsageError } from '../../base/usage-error.js';
import { fileOf } from '../../protocol/test-case.js';
import { ignoredByGit } from '../ci/git.js';
import { filesMatching, isFile, isFolder, listTestFiles, relativeToCwd } from '../client/test-files.js';
import { normalizePath } from '../reports/known-files.js';
import { type Finding, fine, problem, warning } from './finding.js';

const QUOTE = "quote globs, so that the shell leaves them alone: ballast queue 'src/**/*.test.ts'";

/** Folders that builds write, where Git cannot tell. */
const BUILD_FOLDERS = new Set(['dist', 'build', 'out', 'coverage', 'target', '.next', 'vendor']);

/** Lists the test files as `queue` would, and says what is odd about the list. Returns null if there is none. */
export async function checkList(args: readonly string[], readsStdin: boolean): Promise<{ findings: Finding[]; files: string[] | null }> {
  if (args.length === 0 && !readsStdin)
    return {
      findings: fine('list.not_given', 'no list was given: give the globs of queue or split, or --stdin, to check them'),
      files: null,
    };
  const globs = args.filter(arg => arg !== '-');
  const findings: Finding[] = [];
  try {
    findings.push(...(await unmatchedGlobs(globs)));
    const files = await listTestFiles(args, readsStdin);
    findings.push(...fine('list.files', `${pluralize(files.length, 'test file')}: ${abbreviate(files)}`));
    findings.push(...(await shellFindings(globs)), ...pathFindings(files));
    return { findings, files };
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    // What queue itself refuses, in its words.
    const [sentence = '', ...remedies] = error.errors.join('; ').split('; ');
    return { findings: [...findings, ...problem('list.refused', sentence, remedies.join('; '))], files: null };
  }
}

/** Globs that match nothing, each with the likely cause. */
async function unmatchedGlobs(globs: readonly string[]): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const pattern of globs) {
    if (pattern.startsWith('!') || (await filesMatching([pattern])).length > 0) continue;
    const [cause, remedy] = await whyUnmatched(pattern);
    findings.push(...warning('list.no_match', `${pattern} matches no file in ${process.cwd()}${cause}`, remedy));
  }
  return findings;
}

/** The likely cause, as the end of a sentence. */
async function whyUnmatched(pattern: string): Promise<[cause: string, remedy: string]> {
  const plain = relativeToCwd(pattern);
  if (isFolder(plain)) return [': it is a folder', `give a glob of files, such as '${plain.replace(/\/+$/, '')}/**/*'`];
  const unquoted = plain.replace(/["'`]/g, '');
  if (unquoted !== plain) return [': it has quotes in it, which count as part of it', `quote it once only: '${unquoted}'`];
  if (plain.includes('\\')) return [': it has backslashes', `separate folders by slashes: '${plain.replaceAll('\\', '/')}'`];
  if (/^~|\$/.test(plain))
    return [': nothing replaced the ~ or the variable in it', 'write it out: quotes keep the shell from replacing it'];
  if ((await glob([plain], { ignore: [], onlyFiles: true, expandDirectories: false })).length > 0)
    return [': what it matches lies in node_modules, which is left out', 'keep test files outside node_modules'];
  // In the folder of a package, globs may begin at the root of the repository.
  const here = process.cwd().split(sep);
  for (let count = 1; count < here.length; count += 1) {
    const prefix = `${here.slice(-count).join('/')}/`;
    const inner = plain.startsWith(prefix) ? plain.slice(prefix.length) : null;
    if (inner && (await filesMatching([inner])).length > 0)
      return [`: this is the folder ${prefix} already`, `give '${inner}', or start in the folder above`];
  }
  const file = plain.split('/').at(-1)!;
  const below = file === '' ? [] : await filesMatching([`**/${file}`]);
  if (below.length > 0)
    return [
      `, but ${pluralize(below.length, 'file')} elsewhere would: ${abbreviate(below.sort())}`,
      `give another glob, such as '**/${file}', or start in another folder`,
    ];
  return ['', 'start in the folder that the glob is relative to, and check that the checkout has the files'];
}

/** A shell without `globstar` takes ** for one level of folders: the list then lacks files, and nobody sees it. */
async function shellFindings(globs: readonly string[]): Promise<Finding[]> {
  const paths = globs.filter(arg => !arg.startsWith('!'));
  if (paths.length < 2 || !paths.every(isFile)) return [];
  const pattern = commonPattern(paths.map(relativeToCwd));
  if (pattern === null) return [];
  const listed = new Set(await filesMatching(paths));
  const others = (await filesMatching([pattern])).filter(path => !listed.has(path)).sort();
  if (others.length === 0) return [];
  return warning(
    'list.expanded_by_shell',
    `the arguments are ${paths.length} paths, as when the shell replaces a glob; ${pluralize(others.length, 'file')} of ${pattern} ${agree(others.length, 'is', 'are')} not among them: ${abbreviate(others)}`,
    QUOTE,
  );
}

/** A glob for the paths that are named alike: those in one folder that end in .test.ts or _spec.rb, or begin with test_; null: they are not. */
function commonPattern(paths: readonly string[]): string | null {
  const names = paths.map(path => basename(path));
  const [top = ''] = paths[0]!.split('/');
  const folder = paths.every(path => path.startsWith(`${top}/`)) ? `${top}/` : '';
  const [ending = '', ...endings] = new Set(names.map(name => /[._-]\w+\.\w+$/.exec(name)?.[0]));
  if (ending !== '' && endings.length === 0) return `${folder}**/*${ending}`;
  const [extension, ...extensions] = new Set(names.map(name => extname(name)));
  if (extensions.length > 0) return null;
  if (names.every(name => name.startsWith('test_'))) return `${folder}**/test_*${extension}`;
  return folder === '' ? null : `${folder}**/*${extension}`;
}

function pathFindings(files: readonly string[]): Finding[] {
  // Two slashes begin the label of a Bazel target.
  const absolute = files.filter(path => isAbsolute(path) && !path.startsWith('//'));
  const dotted = files.filter(path => path.startsWith('./'));
  const backslashed = files.filter(path => path.includes('\\') && !isFile(path));
  const missing = files.filter(path => !isFile(fileOf(path) ?? path));
  const built = builtFiles(files);
  const warn = (id: string, paths: readonly string[], verb: readonly [one: string, many: string], what: string, remedy: string) => {
    if (paths.length === 0) return [];
    const count = `${paths.length} of ${pluralize(files.length, 'listed path')}`;
    return warning(`list.${id}`, `${count} ${agree(paths.length, ...verb)} ${what} (${abbreviate(paths)})`, remedy);
  };
  return [
    ...warn(
      'absolute',
      absolute,
      ['is', 'are'],
      'absolute: another machine, or another folder, lists other paths',
      'list paths relative to the folder of the tests',
    ),
    ...warn(
      'dotted',
      dotted,
      ['begins', 'begin'],
      'with ./, which makes another file of it than without',
      "leave it out, as with sed 's|^\\./||'",
    ),
    ...warn(
      'backslashes',
      backslashed,
      ['has', 'have'],
      'backslashes, which make another file of it than slashes',
      'separate folders by slashes',
    ),
    // A list of packages or of names of tests has no file at all.
    ...warn(
      'missing',
      missing.length < files.length ? missing : [],
      ['is not a file', 'are not files'],
      'here',
      'make the list from the same checkout, in the same folder',
    ),
    ...warn(
      'build_output',
      built,
      ['looks', 'look'],
      'like build output or packages, which may differ from node to node',
      `leave them out, as with '!${normalizePath(built[0] ?? '').split('/')[0]}/**' among the globs`,
    ),
    ...duplicates(files).flatMap(([one, other]) =>
      warning('list.duplicates', `${one} and ${other} are one file, which would run twice`, 'list each file by one path'),
    ),
  ];
}

function builtFiles(files: readonly string[]): string[] {
  const inside = (folders: ReadonlySet<string>) =>
    files.filter(path =>
      dirname(path)
        .split('/')
        .some(name => folders.has(name)),
    );
  const ofPackages = inside(new Set(['node_modules']));
  const relative = files.filter(path => !isAbsolute(path) && isFile(path));
  return [...new Set([...ofPackages, ...(ignoredByGit('.', relative) ?? inside(BUILD_FOLDERS))])];
}

function duplicates(files: readonly string[]): [string, string][] {
  const byFile = new Map<string, string>();
  const pairs: [string, string][] = [];
  for (const path of files) {
    const real = isFile(path) ? realpathSync(path) : normalizePath(path);
    const other = byFile.get(real);
    if (other === undefined) byFile.set(real, path);
    else pairs.push([other, path]);
  }
  // The first few show what is wrong.
  return pairs.slice(0, 3);
}
