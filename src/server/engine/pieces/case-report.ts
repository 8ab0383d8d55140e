import { type Segments, toSegments } from '../../../base/bytes.js';
import type { NamedCases } from '../../../protocol/case-outcomes.js';

/** Bytes of reported cases that are written at a time. */
export const REPORT_BYTES_PER_CHANGE = 65_536;

/** A client's report on the test cases of a file, or of a piece of it. */
export interface CaseReport {
  file: string;
  /** Place of the piece among the pieces of the file; null: the whole file. */
  piece: { number: number; count: number } | null;
  /** A digest of the CI run and its build. */
  ci_run: string;
  commit_hash: string;
  /** The test runner that knows the cases by these names; null: the names are those of reports, and no runner knows them. */
  runner: string | null;
  /** Seconds that the file or piece took. */
  seconds: number;
  /** In their order in the file; each name once. */
  cases: readonly NamedCases[];
  /** Cases that did not pass in the piece, but passed in the whole file right afterwards. */
  passed_whole: readonly string[];
}

/** Reports on files and pieces, as the store keeps them. They move between threads, and into the store, without a copy of each name. */
export interface EncodedCases {
  places: readonly CasesPlace[];
  /** The report on each place, as JSON. */
  reports: Segments;
}

/** The key of a file or piece: what is reported of it replaces what was reported under the same key before. */
export interface CasesPlace {
  file: string;
  /** Its number; WHOLE: the file; BY_REPORTS: the file with the names in reports, which do not replace names that a runner knows. */
  piece: number;
}

const WHOLE = 0;
const BY_REPORTS = -1;

export function encodeCases(reports: readonly CaseReport[]): EncodedCases {
  const numberOf = ({ piece, runner }: CaseReport) => piece?.number ?? (runner === null ? BY_REPORTS : WHOLE);
  // If a place is reported twice, the last one counts.
  const last = [...new Map(reports.map(one => [`${numberOf(one)} ${one.file}`, one])).values()];
  return {
    places: last.map(one => ({ file: one.file, piece: numberOf(one) })),
    reports: toSegments(last.map(one => JSON.stringify(one))),
  };
}

/** @param report of one place */
export function decodeCases(report: string): CaseReport {
  return JSON.parse(report) as CaseReport;
}

/** The ends of parts of these places that are written one after another, with about so many bytes each: others can write in between. */
export function partsOf({ reports: { ends } }: EncodedCases, bytes: number): number[] {
  const parts: number[] = [];
  let from = 0;
  for (const [i, end] of ends.entries()) {
    if (end - from < bytes && i < ends.length - 1) continue;
    parts.push(i + 1);
    from = end;
  }
  return parts;
}
