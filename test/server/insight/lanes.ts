import type { NodeLane, Span, Timeline } from '../../../src/server/insight/timeline/timeline.js';

/** A batch in a test: its files, their recorded seconds (null: none), and the seconds that the node had it, since the start of the build. */
export interface Batch {
  files: string[];
  seconds: (number | null)[];
  from: number;
  to: number;
}

export const START = Date.UTC(2026, 10, 2);

/** A timeline of a queue with these batches by node; null: the node never came. Each file was planned with `known`, else its time. */
export function timelineOf(nodes: readonly (readonly Batch[] | null)[], known: Readonly<Record<string, number>> = {}): Timeline {
  const batchesOf = nodes.map(batches => batches ?? []);
  const paths = [...new Set(batchesOf.flat().flatMap(({ files }) => files))];
  const recorded = new Map(batchesOf.flat().flatMap(({ files, seconds }) => files.map((path, i) => [path, seconds[i]!])));
  const lanes = batchesOf.map((batches, node_index): NodeLane => {
    const spans = batches.map(({ files, seconds, from, to }, batch): Span => {
      const indices = files.map(path => paths.indexOf(path));
      return { batch, from, to, files: indices, seconds: [...seconds], is_replay: false, lease: null, failed: null };
    });
    const end = spans.at(-1)?.to ?? null;
    return { node_index, start: spans[0]?.from ?? null, recordedAt: end, restartedAt: [], end, spans };
  });
  return {
    kind: 'queue',
    started_at: START,
    wall: Math.max(0, ...lanes.map(({ end }) => end ?? 0)),
    areStartsKnown: true,
    expectedCost: null,
    cost: null,
    paused: 0,
    steadyFor: Infinity,
    is_running: false,
    state: 'recorded',
    paths,
    estimates: paths.map(path => known[path] ?? recorded.get(path)!),
    is_guess: paths.map(() => 0),
    nodes: lanes,
  };
}

/** A batch of one file after another, with their recorded seconds. */
export function batchOf(from: number, seconds: Readonly<Record<string, number | null>>): Batch {
  const times = Object.values(seconds);
  return { files: Object.keys(seconds), seconds: times, from, to: from + times.reduce<number>((sum, each) => sum + (each ?? 0), 0) };
}

/** The timeline, whose node 0 has recorded nothing after its last files. */
export function withoutRecording(timeline: Timeline): Timeline {
  Object.assign(timeline.nodes[0]!, { recordedAt: null });
  return timeline;
}
