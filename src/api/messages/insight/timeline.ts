import type { Count } from '../text.js';
import type { BuildHead } from './minutes.js';

/** GET /v1/builds/:id/timeline: what each node did, and when. Seconds since `started_at`. */
export interface TimelineAnswer extends BuildHead {
  wall: number;
  floor: number;
  /** Columns of all files. */
  paths: string[];
  /** Seconds; null: not planned. */
  estimates: (number | null)[];
  is_guess: (0 | 1)[];
  nodes: LaneAnswer[];
}

export interface LaneAnswer {
  node_index: Count;
  start: number | null;
  end: number | null;
  recorded: boolean;
  spans: SpanAnswer[];
}

export interface SpanAnswer {
  batch: Count | null;
  from: number;
  to: number;
  /** Indices into `paths`, in the order in which the node was given them. */
  files: Count[];
  /** By file: recorded seconds; null: not recorded. */
  seconds: (number | null)[];
  is_replay: boolean;
  lease: 'expired' | 'returned' | 'restarted' | 'closed' | null;
  failed: Count[] | null;
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

/** GET /v1/builds/:id/forecast: what was expected when the build was planned. Durations are seconds. */
export interface ForecastAnswer extends BuildHead {
  /** When the last node would finish, if all start together and take the estimated times. */
  makespan: number;
  lower_bound: number;
  ratio: number;
  bound_by_file: boolean;
  unknown_files: Count;
  binding_files: { path: string; seconds: number }[];
  useful_nodes: Count;
  /** What it took; null: it is running. */
  wall: number | null;
}
