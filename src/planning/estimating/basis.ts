/**
 * Where an estimate comes from. `branch`, `default_branch`, `other_branch`: the file's own measurements there. `cases`: the sum of its test
 * cases. `file`: a test case gets a share of its file, or a percentile of the other cases in it. `directory`, `suite`: a percentile of
 * other files there. `none`: nothing was ever measured.
 */
export const SOURCES = ['branch', 'default_branch', 'other_branch', 'cases', 'file', 'directory', 'suite', 'none'] as const;
export type Source = (typeof SOURCES)[number];

/**
 * What estimates rest on, in three bytes by file, because a suite may have 200,000 files: the code of the source, from 1; how many
 * builds measured the file, 255: 255 or more; the usual deviation of the logarithm of its seconds in hundredths, 0: unknown.
 */
export type Basis = Uint8Array;

export const BASIS_BYTES = 3;
const MAX_BYTE = 255;
const HUNDREDTHS = 100;

/** What the estimate of one file rests on. */
export interface FileBasis {
  source: Source;
  /** How many builds measured it, at most 255. */
  count: number;
  /** The usual deviation, as a factor; null: unknown. */
  spread: number | null;
}

/** A basis of which nothing is known yet. */
export function emptyBasis(files: number): Basis {
  return new Uint8Array(BASIS_BYTES * files);
}

export function codeOf(source: Source): number {
  return SOURCES.indexOf(source) + 1;
}

/** Sets the basis of a file. Without a deviation its spread is unknown. */
export function setBasis(basis: Basis, file: number, code: number, builds = 0, deviation = 0): void {
  const at = BASIS_BYTES * file;
  basis[at] = code;
  basis[at + 1] = Math.min(MAX_BYTE, builds);
  basis[at + 2] = Math.min(MAX_BYTE, Math.round(HUNDREDTHS * deviation));
}

export function fileBasis(basis: Basis, file: number): FileBasis {
  const at = BASIS_BYTES * file;
  const [code, builds, deviation] = [basis[at] ?? 0, basis[at + 1] ?? 0, basis[at + 2] ?? 0];
  return {
    source: SOURCES[code - 1] ?? 'none',
    count: builds,
    spread: deviation === 0 ? null : Math.exp(deviation / HUNDREDTHS),
  };
}
