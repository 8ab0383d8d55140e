import fc from 'fast-check';
import type { NodeLane, Span, Timeline } from '../../../src/engine/insight/timeline/timeline.js';
import { START } from './lanes.js';

const FILES = 12;
const durations = fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 600_000 }));
const secondsOfFile = fc.oneof(
  { weight: 6, arbitrary: fc.double({ min: 0.001, max: 300, noNaN: true }) },
  fc.constantFrom(0, NaN, 1e-9, 604_800),
);

/** Spans of a node, with a pause before each: some with nothing recorded, some with more than fits. */
const spansOfNode = fc.array(
  fc.record({
    pause: durations,
    length: durations,
    files: fc.uniqueArray(fc.nat({ max: FILES - 1 }), { maxLength: 6 }),
    seconds: fc.array(secondsOfFile, { minLength: 6, maxLength: 6 }),
    lease: fc.constantFrom<Span['lease']>(null, 'expired', 'returned', 'restarted', 'closed'),
    isReplay: fc.boolean(),
  }),
  { maxLength: 4 },
);

/** Any timeline. */
export const timelines: fc.Arbitrary<Timeline> = fc
  .record({
    kind: fc.constantFrom<Timeline['kind']>('queue', 'split', 'recordings'),
    nodes: fc.array(fc.record({ came: fc.boolean(), late: durations, spans: spansOfNode, tail: durations, recorded: fc.boolean() }), {
      minLength: 1,
      maxLength: 5,
    }),
    estimates: fc.array(fc.oneof(fc.double({ min: 0.001, max: 300, noNaN: true }), fc.constant(NaN)), {
      minLength: FILES,
      maxLength: FILES,
    }),
    isGuess: fc.array(fc.constantFrom(0, 1), { minLength: FILES, maxLength: FILES }),
    isRunning: fc.boolean(),
  })
  .map(({ kind, nodes, estimates, isGuess, isRunning }) => {
    const lanes = nodes.map(({ came, late, spans, tail, recorded }, node_index): NodeLane => {
      if (!came) return { node_index, start: null, recordedAt: null, end: null, spans: [] };
      let at = START + late;
      const made = spans.map(({ pause, length, files: indices, seconds, lease, isReplay }, seq): Span => {
        const from = at + (seq === 0 ? 0 : pause);
        at = from + length;
        const some = Float64Array.from(indices, (_, i) => seconds[i]!);
        return { seq, from, to: at, files: Uint32Array.from(indices), seconds: some, isReplay, lease, failed: null, decision: null };
      });
      const end = at + tail;
      return { node_index, start: START + late, recordedAt: recorded ? end : null, end, spans: made };
    });
    const start = Math.min(...lanes.map(lane => lane.start ?? Infinity));
    const end = Math.max(...lanes.map(lane => lane.end ?? -Infinity));
    const paths = Array.from({ length: FILES }, (_, i) => `${i}.rb`);
    const columns = { paths, estimates: Float64Array.from(estimates), isGuess: Uint8Array.from(isGuess) };
    const extent = Number.isFinite(start) ? { start, end } : { start: START, end: START + 1000 };
    return { kind, ...extent, paused: 0, isRunning, files: columns, nodes: lanes };
  });
