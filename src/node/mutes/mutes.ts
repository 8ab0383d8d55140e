import { readFileSync } from 'node:fs';
import { pluralize } from '../../base/plural.js';
import { abbreviate } from '../../base/terminal.js';
import { UsageError } from '../../base/usage-error.js';
import { limits } from '../../protocol/limits.js';
import { fileOfPiece } from '../../protocol/piece-path.js';
import type { TestCase } from '../reports/test-case.js';

/** The file of the repository that says which failures do not fail a node. It lies in the folder where the tests run. */
export const MUTES_FILE = '.ballast/muted';

/** A line of the file. */
export interface Mute {
  /** From 1. */
  line: number;
  /** As it is listed to Ballast. */
  path: string;
  /** As reports name it; null: the whole file. */
  testCase: string | null;
  /** The last day on which it holds, in UTC: YYYY-MM-DD. */
  until: string;
  owner: string;
  reason: string;
}

/** The names of a test case in its report. */
export type CaseName = Pick<TestCase, 'classname' | 'name'>;

/** The failures that the repository mutes. */
export class Mutes {
  constructor(readonly all: readonly Mute[]) {}

  /** Reports whether each failure of a file is muted: the file as a whole, or each of these cases. @param path of a file, or of a piece of one */
  cover(path: string, failed: readonly CaseName[]): boolean {
    const mutes = this.all.filter(mute => mute.path === fileOfPiece(path));
    const isMuted = (name: CaseName) => mutes.some(({ testCase }) => testCase !== null && isCase(testCase, name));
    return this.coverWhole(path) || (failed.length > 0 && failed.every(isMuted));
  }

  /** Reports whether the file is muted as a whole. The list may have test cases in the place of files. */
  coverWhole(path: string): boolean {
    return this.all.some(mute => nameOf(mute) === fileOfPiece(path));
  }

  /** Says by which lines a file is muted, until when, by whom and why. */
  textOf(path: string): string {
    const file = fileOfPiece(path);
    const mutes = this.all.filter(mute => mute.path === file || nameOf(mute) === file);
    return `${path} (${mutes.map(({ line, until, owner, reason }) => `${MUTES_FILE}:${line}, until ${until}, ${owner}: ${reason}`).join('; ')})`;
  }
}

/** Names the files of a node whose failures are muted. */
export function mutedLine(mutes: Mutes, paths: readonly string[]): string {
  return `${pluralize(paths.length, 'muted failure')}: ${abbreviate(paths.map(path => mutes.textOf(path)))}`;
}

/**
 * Reads the mutes of the working folder: none if the file is missing. Throws a UsageError that names each line that is malformed or expired.
 *
 * @param now milliseconds since 1970
 */
export function readMutes(now = Date.now()): Mutes {
  let bytes: Buffer;
  try {
    bytes = readFileSync(MUTES_FILE);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return new Mutes([]);
    throw new UsageError([`cannot read ${MUTES_FILE}: ${message}`]);
  }
  if (bytes.length > limits.mutesBytes)
    throw new UsageError([
      `${MUTES_FILE} has ${bytes.length} bytes, and the limit is ${limits.mutesBytes}: fix tests, and remove their lines`,
    ]);
  return new Mutes(parseMutes(bytes.toString(), now));
}

/** Throws a UsageError with a sentence for each line that is malformed or expired. @param now milliseconds since 1970 */
export function parseMutes(text: string, now: number): Mute[] {
  const today = new Date(now).toISOString().slice(0, 10);
  const errors: string[] = [];
  const first = new Map<string, number>();
  const mutes = text
    .replace(/^\uFEFF/, '')
    .split(/\r?\n/)
    .flatMap((content, i): Mute[] => {
      const line = i + 1;
      if (/^\s*(#|$)/.test(content)) return [];
      const mute = parseLine(content.trim(), line);
      const name = nameOf(mute);
      const fault = faultOf(mute, first.get(name), today);
      if (fault !== null) errors.push(`${MUTES_FILE}:${line}: ${JSON.stringify(name)} ${fault}`);
      if (!first.has(name)) first.set(name, line);
      return [mute];
    });
  if (mutes.length > limits.mutes)
    errors.push(`${MUTES_FILE} mutes ${mutes.length} failures, and the limit is ${limits.mutes}: fix tests, and remove their lines`);
  if (errors.length > 0) throw new UsageError(errors);
  return mutes;
}

/** A path may have blanks, and the name of a case may have nearly everything. */
const LINE = /^(.+?)(?:\s+until=(\S*))?(?:\s+owner=(.*?))?(?:\s+reason=(.*))?$/;

function parseLine(content: string, line: number): Mute {
  const [, name = '', until = '', owner = '', reason = ''] = LINE.exec(content)!;
  const end = name.indexOf('::');
  const [path, testCase] = end < 0 ? [name, null] : [name.slice(0, end), name.slice(end + 2)];
  return { line, path, testCase, until, owner, reason };
}

/** Says what is wrong with a line, after its name; null: nothing. @param first the line that mutes the same, before this one */
function faultOf({ path, testCase, until, owner, reason }: Mute, first: number | undefined, today: string): string | null {
  if (path === '' || testCase === '') return `lacks its ${path === '' ? 'path' : 'test case'}: ${FORM}`;
  if (until === '') return `has no last day: ${FORM}`;
  if (!isDay(until)) return `has until=${until}, which is not a day: ${FORM}`;
  if (owner === '') return `has no owner: ${FORM}`;
  if (reason === '') return `has no reason: ${FORM}`;
  if (until < today)
    return `expired: its last day was ${until}, and today is ${today} in UTC; let ${owner} fix the test and remove the line, or have a later day reviewed`;
  return first === undefined ? null : `is muted by line ${first}, too: keep one of the lines`;
}

const FORM = 'write PATH until=YYYY-MM-DD owner=WHO reason=WHY, or PATH::CASE in the place of PATH';

/** What a line mutes, as it is written there. */
export function nameOf({ path, testCase }: Mute): string {
  return testCase === null ? path : `${path}::${testCase}`;
}

/** Reports whether a text is a day of the calendar, which has no 30 February. */
function isDay(text: string): boolean {
  const time = /^\d{4}-\d\d-\d\d$/.test(text) ? Date.parse(text) : Number.NaN;
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text);
}

/** Reports whether the name in a mute is that of a case: its name, the name behind its class, or, as pytest has it, Class::name. */
function isCase(muted: string, { classname, name }: CaseName): boolean {
  if (muted === name || muted === `${classname} ${name}`.trim()) return true;
  const scope = muted.split('::');
  return scope.length > 1 && scope.pop() === name && `.${classname}`.endsWith(`.${scope.join('.')}`);
}
