import type { tags } from 'typia';
import type { limits } from '../limits.js';
import type { Count, Uuid } from '../scalars.js';
import type { NodeIndex, NodeTotal, OptionalText, Path } from './parameters.js';

/** Query of GET /builds/:id/minutes, /timeline and /forecast */
export interface CiRunQuery {
  /** Another CI run of the build, by its ci_run_id or ci_run. Without it, the newest one. */
  ci_run?: OptionalText;
}

/** Query of GET /v1/builds/:id/comparison */
export interface ComparisonQuery extends CiRunQuery {
  /** The id of a build or of a CI run. Without it, what is usual on the branch. */
  with?: Uuid;
}

/** Query of GET /v1/builds/:id/trace */
export interface TraceQuery extends CiRunQuery {
  /** `chrome`: trace events, for Perfetto and DevTools. `otlp`: a request to a collector of OpenTelemetry. Default: chrome. */
  format?: 'chrome' | 'otlp';
}

/** Query of GET /v1/builds/:id/why */
export interface WhyQuery extends CiRunQuery {
  /** Only the batches of this node. */
  node_index?: NodeIndex;
  /** Only the batch with this number. */
  batch?: Count;
}

/** Query of GET /v1/build_summaries */
export interface BuildLinesQuery {
  branch?: OptionalText;
  commit_hash?: OptionalText;
  node_total?: NodeTotal;
  /** Only builds with files that failed, as far as the clients report them. */
  failed?: boolean;
  /** As 2026-11-22, UTC, both included: the days on which the builds were first recorded. */
  from?: string & tags.Format<'date'>;
  to?: string & tags.Format<'date'>;
  /**
   * Sorts the newest 500 builds that are found, with `-` for the largest first, and answers the first `limit` of them. Without it, the newest
   * come first. A key that a build does not have comes last.
   */
  sort?: LineSort;
  /** `next` of the answer before. Not with `sort`. */
  cursor?: string & tags.Pattern<'^[0-9a-z]{1,10}$'>;
  limit?: number & tags.Type<'int64'> & tags.Minimum<1> & tags.Maximum<typeof limits.buildLinesPerPage>;
}

type LineKey = 'started' | 'nodes' | 'wall' | 'idle' | 'failed' | 'missing' | 'saved';
type LineSort = LineKey | `-${LineKey}`;

/** Query of GET /v1/trends/builds */
export interface BuildTrendQuery {
  /** Without it, all branches together. */
  branch?: OptionalText;
  /** As 2026-11-22, UTC, both included. Without them, the last eight weeks. */
  from?: string & tags.Format<'date'>;
  to?: string & tags.Format<'date'>;
  /** So many days up to `to`, instead of `from`. */
  days?: number & tags.Type<'int64'> & tags.Minimum<1> & tags.Maximum<typeof limits.trendDays>;
  /** A week begins on Monday, and has the date of that day. `range`: one entry for all days, with the date of the first. */
  by?: 'day' | 'week' | 'range';
}

/** Query of GET /v1/trends/files */
export interface FileTrendsQuery {
  /** Without it, the default branch. */
  branch?: OptionalText;
  /** Only files with this text in their paths, in upper or lower case. */
  path?: OptionalText;
  /**
   * Order of the files: by the longest estimate or median, by variability, by the seconds that they grew, by the number of builds that they decided,
   * each with the most first; or by path.
   */
  sort?: 'estimate' | 'median' | 'spread' | 'growth' | 'decided' | 'path';
  offset?: Count;
  limit?: number & tags.Type<'int64'> & tags.Minimum<1> & tags.Maximum<typeof limits.trendFilesPerPage>;
}

/** Query of GET /v1/trends/files/history */
export interface FileHistoryQuery {
  /** Of a test file. That of a piece stands for its file. */
  path: Path;
  /** Without it, the default branch. */
  branch?: OptionalText;
}

/** Query of GET /v1/flaky */
export interface FlakyQuery {
  /** Default: 1000. */
  limit?: number & tags.Type<'int64'> & tags.Minimum<1> & tags.Maximum<typeof limits.flakyFiles>;
  /** Days of `recent`, today included. Default: 30. */
  days?: number & tags.Type<'int64'> & tags.Minimum<1> & tags.Maximum<typeof limits.trendDays>;
}

/** Query of GET /v1/trends/nodes */
export interface NodeTrendsQuery {
  /** Without it, all branches. */
  branch?: OptionalText;
  /** Without it, that of the newest build. */
  node_total?: NodeTotal;
}
