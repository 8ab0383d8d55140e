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
