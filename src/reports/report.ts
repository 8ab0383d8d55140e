import type { KnownFiles } from './known-files.js';

/** Told of each path that a report names: its seconds, NaN where it has none; or why it is none. Nothing else is judged here. */
export type AddTime = (path: string, seconds: number, complaint?: string) => void;

export interface ReportContext {
  /** The folder that paths are relative to, where it was named. */
  root: string | null;
  /** The test files, where they were named. */
  known: KnownFiles | null;
}

/** Reads the report of a test run, as it comes. */
export type ReadReport = (bytes: AsyncIterable<Uint8Array>, tell: AddTime, place: ReportContext) => Promise<void>;

/** What is read is no report of its kind; the message says why and where, for a sentence that names the file. */
export class ReportError extends Error {}

/** XML of another kind, such as a coverage report. */
export class OtherXml extends ReportError {}
