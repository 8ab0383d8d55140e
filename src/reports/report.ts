import type { KnownFiles } from './known-files.js';

/**
 * Receives each path of a report.
 * @param seconds NaN: the report has no time for the path
 * @param error why the entry cannot be used
 */
export type AddTime = (path: string, seconds: number, error?: string) => void;

export interface ReportContext {
  /** The folder that paths are relative to; null: not given. */
  root: string | null;
  /** The test files; null: not given. */
  known: KnownFiles | null;
}

/** Reads a report as a stream. */
export type ReadReport = (bytes: AsyncIterable<Uint8Array>, addTime: AddTime, context: ReportContext) => Promise<void>;

/** The input is not a report of its format. The message says why and where; the caller adds the name of the file. */
export class ReportError extends Error {}

/** XML of another kind, such as a coverage report. */
export class OtherXml extends ReportError {}
