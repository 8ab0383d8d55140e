/** Raised when older exports can no longer be read. */
export const EXPORT_VERSION = 1;

/** The first line of an export. */
export interface ExportHead {
  type: 'export';
  v: number;
  exported_at: string;
  /** The names of the exported projects. */
  projects: string[];
}
