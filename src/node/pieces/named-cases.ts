import { readFileSync } from 'node:fs';
import { mergeByName, type NamedCases } from '../../protocol/case-outcomes.js';
import { outcomeOf, type TestCase } from '../reports/test-case.js';
import type { CaseReport, PieceRunner } from './piece.js';

/** A test runner whose command selects test cases by their names. */
export interface NamingRunner extends PieceRunner {
  /**
   * An argument that a command must not have: it selects cases, too, and only one of both selections would count. The
   * argument is tried alone, and with the next one behind a space, which may be its value.
   */
  readonly conflicts: RegExp;
  /** Arguments that a variable adds to the command. */
  readonly added?: { variable: string; flags(words: readonly string[], environment: NodeJS.ProcessEnv): readonly string[] };
  /** From the reports, so never null. */
  reportsOf(...args: Parameters<PieceRunner['reportsOf']>): ReadonlyMap<string, CaseReport>;
}

/** Limit on an expression: Windows allows 32,767 characters in a command, Linux 131,072 bytes in an argument. */
export const MAX_EXPRESSION_BYTES = process.platform === 'win32' ? 30_000 : 100_000;

/** PCRE refuses a pattern that nests more than 250 groups. */
const MAX_NESTED_GROUPS = 100;

/**
 * Returns an expression, of the syntax that all runners share, for any of some texts. Each is given as the expressions of its parts. Equal
 * parts at the beginning occur once.
 */
export function anyOf(texts: readonly (readonly string[])[], depth = 0): string {
  if (depth === MAX_NESTED_GROUPS) return `(?:${texts.map(parts => parts.join('')).join('|')})`;
  const byFirst = new Map<string, (readonly string[])[]>();
  for (const [first = '', ...others] of texts) {
    const sharing = byFirst.get(first);
    if (sharing) sharing.push(others);
    else byFirst.set(first, [others]);
  }
  const inner = depth + (byFirst.size > 1 ? 1 : 0);
  const alternatives = [...byFirst].map(
    ([first, others]) => first + (others.every(({ length }) => length === 0) ? '' : anyOf(others, inner)),
  );
  return alternatives.length === 1 ? alternatives[0]! : `(?:${alternatives.join('|')})`;
}

/**
 * Reports whether a test file mentions that its cases need each other, which no report tells. Such a file stays whole. So does one that cannot
 * be read.
 */
export function mentions(file: string, dependence: RegExp): boolean {
  try {
    return dependence.test(readFileSync(file, 'utf8'));
  } catch {
    return true;
  }
}

/** Returns the cases of a file by the names that a runner gives them. */
export interface CaseNames {
  /** Null: it is no case, but says what became of the file. */
  nameOf(testCase: TestCase, file: string): string | null;
  /** Equal for names that one selection cannot tell apart. Their cases count as one. */
  keyOf(name: string): string;
  /** True if reports list the cases that were not selected, as skipped. */
  listsAll: boolean;
}

/** Tells the cases of each file that has any. */
export function reportCases(
  files: readonly string[],
  reported: ReadonlyMap<string, readonly TestCase[]>,
  { nameOf, keyOf, listsAll }: CaseNames,
): Map<string, CaseReport> {
  const reports = new Map<string, CaseReport>();
  for (const file of files) {
    const cases: NamedCases[] = [];
    for (const testCase of reported.get(file) ?? []) {
      const name = nameOf(testCase, file);
      // No argument and no message can have such a name.
      if (name?.isWellFormed() && !name.includes('\0'))
        cases.push({ name, seconds: testCase.seconds, outcomes: { [outcomeOf(testCase)]: 1 } });
    }
    const merged = mergeByName(withSharedNames(cases, keyOf));
    if (merged.length > 0) reports.set(file, { cases: merged, listed: listsAll ? new Set(merged.map(({ name }) => name)) : null });
  }
  return reports;
}

/** Gives cases that cannot be told apart the first of their names, whatever their order. */
function withSharedNames(cases: readonly NamedCases[], keyOf: (name: string) => string): NamedCases[] {
  const names = new Map<string, string>();
  for (const { name } of cases) {
    const before = names.get(keyOf(name));
    if (before === undefined || name < before) names.set(keyOf(name), name);
  }
  return cases.map(each => ({ ...each, name: names.get(keyOf(each.name))! }));
}
