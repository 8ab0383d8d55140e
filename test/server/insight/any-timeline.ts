import fc from 'fast-check';
import { buildState } from '../../../src/protocol/build-state.js';
import { fileOutcomes } from '../../../src/server/insight/minutes/file-outcomes.js';
import { type NodeLane, type Span, type Timeline, withTimes } from '../../../src/server/insight/timeline/timeline.js';
import { START } from './lanes.js';

const FILES = 12;
const durations = fc.oneof(
  fc.constant(0),
  fc.integer({ min: 1, max: 600_000 }).map(milliseconds => milliseconds / 1000),
);
const secondsOfFile = fc.oneof(
  { weight: 6, arbitrary: fc.double({ min: 0.001, max: 300, noNaN: true }) },
  fc.constantFrom(0, null, 1e-9, 604_800),
);

/** Spans of a node, with a pause before each: some with nothing recorded, some with more than fits. */
const spansOfNode = fc.array(
  fc.record({
    pause: durations,
    length: durations,
    files: fc.uniqueArray(fc.nat({ max: FILES - 1 }), { maxLength: 6 }),
    seconds: fc.array(secondsOfFile, { minLength: 6, maxLength: 6 }),
    lease: fc.constantFrom<Span['lease']>(null, 'expired', 'returned', 'restarted', 'closed'),
    is_replay: fc.boolean(),
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
    estimates: fc.array(fc.oneof(fc.double({ min: 0.001, max: 300, noNaN: true }), fc.constant(null)), {
      minLength: FILES,
      maxLength: FILES,
    }),
    is_guess: fc.array(fc.constantFrom<0 | 1>(0, 1), { minLength: FILES, maxLength: FILES }),
    isRunning: fc.boolean(),
    wasCancelled: fc.boolean(),
  })
  .map(({ nodes, isRunning, wasCancelled, ...more }) => {
    const lanes = nodes.map(({ came, late, spans, tail, recorded }, node_index): NodeLane => {
      if (!came) return { node_index, start: null, recordedAt: null, restartedAt: [], end: null, spans: [] };
      let at = late;
      const made = spans.map(({ pause, length, files, seconds, lease, is_replay }, batch): Span => {
        const from = at + (batch === 0 ? 0 : pause);
        at = from + length;
        return { batch, from, to: at, files, seconds: files.map((_, i) => seconds[i]!), is_replay, lease, failed: null };
      });
      const end = at + tail;
      return { node_index, start: late, recordedAt: recorded ? end : null, restartedAt: [], end, spans: made };
    });
    const starts = lanes.flatMap(({ start }) => start ?? []);
    const first = starts.length > 0 ? Math.min(...starts) : 0;
    const since = (time: number) => Math.round(1000 * (time - first)) / 1000;
    const shifted = lanes.map(lane => withTimes(lane, since));
    const wall = starts.length > 0 ? Math.max(...shifted.map(({ end }) => end ?? 0)) : 1;
    const paths = Array.from({ length: FILES }, (_, i) => `${i}.rb`);
    const cost = { pull_cost: 2, hidden: 1, slowdown: 1 };
    const files = { ...more, paths, nodes: shifted };
    const { missing, failed } = fileOutcomes(files, 0);
    const hasEveryNode = shifted.every(({ recordedAt }) => recordedAt !== null);
    const end = {
      kind: more.kind,
      isRunning,
      wasCancelled,
      missing: missing.length,
      failed: failed === null ? null : failed.length,
      hasEveryNode,
    };
    const times = { started_at: START, wall, paused: 0, steadyFor: Infinity, areStartsKnown: true, expectedCost: cost, cost };
    return { ...files, ...times, is_running: isRunning, state: buildState(end) };
  });
