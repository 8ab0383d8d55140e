import { digest } from '../../../engine/digest.js';
import { fileOf } from '../../../planning/estimating/test-case.js';

/** Characters of a file, or of what a test case has behind it, that a key takes: at most three bytes each, twice. */
const MOST = 300;
/** What is longer is cut and made unique by a digest behind this sign, at this place. */
const CUT = '\t';
const CUT_AT = 64;
/** Between a file and what its test cases have behind it. No key of a file has it there: `fileOf` would find it. */
const CASE = '\n';

/**
 * The key of a path: its project, then itself, so that what lies together in a suite lies together on disk,
 * and the test cases of a file follow it. Two paths of a project never have the same.
 */
export function pathKey(project: number, path: string): string {
  const file = fileOf(path);
  return file === null ? fileKey(project, path) : fileKey(project, file) + CASE + bounded(path.slice(file.length));
}

function fileKey(project: number, file: string): string {
  return `${project}/${bounded(file)}`;
}

/** All test cases of a file. */
export function rangeOfCases(project: number, file: string): { start: string; end: string } {
  const start = fileKey(project, file) + CASE;
  // Behind whatever a test case begins with.
  return { start, end: `${start}\u{10FFFF}` };
}

function bounded(text: string): string {
  const isShort = text.length <= MOST && text[CUT_AT] !== CUT && text.isWellFormed();
  return isShort ? text : text.slice(0, CUT_AT).toWellFormed().padEnd(CUT_AT) + CUT + digest(text);
}

/** What a key is of; the path is null when the key has not all of it. */
export function pathOfKey(key: string): { project: number; path: string | null } {
  const slash = key.indexOf('/');
  const project = Number(key.slice(0, slash));
  const path = key.slice(slash + 1);
  return { project, path: [path, path.replace(CASE, '')].find(one => pathKey(project, one) === key) ?? null };
}
