import type { Count, Timestamp } from '../scalars.js';
import type { BuildHead } from './build-head.js';
import type { PartName } from './minutes.js';

/**
 * GET /v1/builds/:id/comparison: what differs from what is usual, or from another build. Durations are seconds. A difference is positive
 * when this build took longer.
 */
export interface ComparisonAnswer extends BuildHead {
  /** The other build; null: the build is compared with what is usual. */
  other: BuildHead | null;
  /** The builds whose medians are usual; null: the build is compared with another one, or too few builds tell what is usual. */
  usual: UsualBuilds | null;
  /** The difference, with its largest causes, in a few sentences. */
  verdict: string;
  wall: ComparedTime;
  floor: ComparedTime;
  /** By the names of the minutes. */
  parts: (ComparedTime & { name: PartName })[];
  /** They add up to the difference of `wall`. The largest first; empty: there is nothing to compare with. */
  causes: DifferenceCause[];
  /** The files that differ most, at most 50, and the number of all that differ. A file that did not run, or does not run usually, has null. */
  files: ComparedFile[];
  file_count: Count;
  /** The address of the page that shows the comparison; null: this port serves no pages. */
  page: string | null;
}

/** The last builds of a branch, before this one, with as many nodes, that ended complete. */
export interface UsualBuilds {
  /** That of the build, or the default branch if too few builds of its own tell. */
  branch: string;
  builds: Count;
  since: Timestamp;
  /** Number of these builds that took less wall time than this one. */
  shorter: Count;
}

export interface ComparedTime {
  seconds: number;
  /** The other build, or the median; null: unknown. */
  before: number | null;
}

export interface DifferenceCause {
  /** The part that took longer, as `spec/checkout_spec.rb` or `node 6 restarted`. */
  text: string;
  /** Time by which it made the build longer. */
  seconds: number;
  /** Time that the file itself took longer: much of that may have cost the build nothing. Null: it is no file, or it ran in one of them only. */
  file_seconds: number | null;
  /** The file or the node that it is about; null: several. */
  path: string | null;
  node_index: Count | null;
}

export interface ComparedFile {
  path: string;
  /** The last recorded time. */
  seconds: number | null;
  before: number | null;
  /** Null: it did not run. */
  node_index: Count | null;
}
