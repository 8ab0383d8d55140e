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
