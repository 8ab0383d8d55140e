import type { Count, Timestamp } from '../scalars.js';
import type { BuildHead } from './build-head.js';

/** GET /v1/builds/:id/timeline: what each node did, and when. Seconds since `started_at`. */
export interface TimelineAnswer extends BuildHead {
  wall: number;
  floor: number;
  /** Columns of all files that were planned or recorded. */
  paths: string[];
  /** The seconds that the plan was made with, guesses included; null: not planned. */
  estimates: (number | null)[];
  /** 1: the estimate is a guess, because the file was never measured. */
  is_guess: (0 | 1)[];
  /** By node_index: one for each node of the build, also for a node that never started. */
  nodes: LaneAnswer[];
}

export interface LaneAnswer {
  node_index: Count;
  /** When it first asked for files, or (of a split or recordings) when it must have begun; null: it never started. */
  start: number | null;
  /** When it last recorded a run, or else its last sign of life; null: it never started. */
  end: number | null;
  /** True if the node has recorded a run since it began. */
  recorded: boolean;
  /** In the order of time, without overlaps. Of a split or of recordings: one for each recorded run, or one of what is planned. */
  spans: SpanAnswer[];
}

/** The work of a node on one batch. */
export interface SpanAnswer {
  /** The number of the batch in its queue; null: a split or recordings. */
  batch: Count | null;
  /** When the batch was handed out. */
  from: number;
  /**
   * When the node asked again or recorded. The files may have ended earlier: the rest is a gap. Of a node that did neither: when it
   * should have ended by the expected time of its files, or when its files went to another node if that was earlier; while it may be at work, now.
   */
  to: number;
  /** Indices into `paths`, in the order in which the node was given them. */
  files: Count[];
  /** By file: the seconds that the node recorded for this execution; null: none (yet). */
  seconds: (number | null)[];
  /** The node had these files before. */
  is_replay: boolean;
  /** Its file had failed, on this node or another one, and ran once more; missing: no. */
  is_retry?: true;
  /** Why the lease of the batch ended early; null: it did not. */
  lease: 'expired' | 'returned' | 'restarted' | 'cancelled' | 'closed' | null;
  /** The files among `files` that failed; null: the client does not report it. */
  failed: Count[] | null;
  /** The files among `failed` whose failures the repository mutes; missing: none. */
  muted?: Count[];
  /** The files among `files` that are flaky: they failed, and passed when their test runner or a node ran them again; missing: none. */
  flaky?: Count[];
}

/** GET /v1/builds/:id/trace: the trace event format, which Perfetto and Chrome's DevTools open. Times are microseconds. */
export interface TraceAnswer {
  displayTimeUnit: 'ms';
  otherData: Record<string, string | number | null>;
  traceEvents: TraceEvent[];
}

export interface TraceEvent {
  name: string;
  cat?: string;
  /** `X`: a batch or a file. `C`: the work that is left in the queue. `M`: the name of a node. */
  ph: 'X' | 'C' | 'M';
  pid: number;
  /** The node. */
  tid: number;
  ts: number;
  dur?: number;
  args: Record<string, string | number | boolean | null>;
}

/** GET /v1/builds/:id/trace?format=otlp: an ExportTraceServiceRequest of OpenTelemetry in JSON. A collector takes it as it is at /v1/traces. */
export interface OtlpTraceAnswer {
  resourceSpans: {
    resource: { attributes: OtlpAttribute[] };
    scopeSpans: { scope: { name: string }; spans: OtlpSpan[] }[];
  }[];
}

export interface OtlpSpan {
  /** 16 bytes in hex: the same for each export of the CI run. */
  traceId: string;
  /** 8 bytes in hex. */
  spanId: string;
  /** Missing: the span of the CI run. */
  parentSpanId?: string;
  name: string;
  /** 1: internal. 2: server, as the conventions ask of the CI run. */
  kind: Count;
  /** Nanoseconds since 1970. */
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  attributes: OtlpAttribute[];
  /** Missing: not failed, as far as it is known. */
  status?: { code: Count; message: string };
}

export interface OtlpAttribute {
  key: string;
  value: { stringValue: string } | { boolValue: boolean } | { intValue: string } | { doubleValue: number };
}

/** GET /v1/builds/:id/forecast: what was expected when the build was planned, and, while it runs, what is expected now. Durations are seconds. */
export interface ForecastAnswer extends BuildHead {
  /** When the last node would finish, if all start together and take the estimated times. */
  makespan: number;
  lower_bound: number;
  ratio: number;
  bound_by_file: boolean;
  unknown_files: Count;
  binding_files: { path: string; seconds: number }[];
  useful_nodes: Count;
  /** Wall time; null: the build is running. */
  wall: number | null;
  /**
   * When all nodes should end; null: it is not running or no queue, most of its files were never measured, no batch was sized yet, or files are
   * left and no node is at work.
   */
  expected_end: ExpectedEndAnswer | null;
}

export interface ExpectedEndAnswer {
  at: Timestamp;
  /** The end lies between these in nine of ten builds. */
  earliest: Timestamp;
  latest: Timestamp;
}
