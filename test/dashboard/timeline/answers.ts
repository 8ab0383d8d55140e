import type { LaneAnswer, SpanAnswer } from '../../../src/protocol/answers/timeline.js';

/** A batch of two files that took 5 of its 10 seconds, unless a test gives others. */
export const span = (more: Partial<SpanAnswer>): SpanAnswer => ({
  batch: 0,
  from: 0,
  to: 10,
  files: [0, 1],
  seconds: [2, 3],
  is_replay: false,
  lease: null,
  failed: null,
  ...more,
});

/** A node that recorded these batches. */
export const node = (spans: SpanAnswer[], more: Partial<LaneAnswer> = {}): LaneAnswer => ({
  node_index: 0,
  start: 0,
  end: spans.at(-1)?.to ?? 0,
  recorded: true,
  spans,
  ...more,
});
