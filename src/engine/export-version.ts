/** Raised when older exports cannot be read any more. */
export const EXPORT_VERSION = 1;

/** The first line of an export. */
export interface ExportHead {
  type: 'export';
  v: number;
  exported_at: string;
  /** Of these projects it is. */
  projects: string[];
}
