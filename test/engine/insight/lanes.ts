import type { NodeLane, Span, Timeline } from '../../../src/engine/insight/timeline/timeline.js';

/** A batch in a test: its files, their recorded seconds, and the seconds that the node had it, since the start of the build. */
export interface Batch {
  files: string[];
  seconds: number[];
  from: number;
  to: number;
}

export const START = Date.UTC(2026, 10, 2);

/** A timeline of a queue with these batches by node; null: the node never came. Each file was planned with `estimates`, else its time. */
export function timelineOf(nodes: readonly (readonly Batch[] | null)[], estimates: Readonly<Record<string, number>> = {}): Timeline {
  const paths = [...new Set(nodes.flatMap(batches => (batches ?? []).flatMap(({ files }) => files)))];
  const recorded = new Map(
    nodes.flatMap(batches => (batches ?? []).flatMap(({ files, seconds }) => files.map((path, i) => [path, seconds[i]!] as const))),
  );
  const lanes = nodes.map((batches, node_index): NodeLane => {
    const spans = (batches ?? []).map(
      ({ files, seconds, from, to }, seq): Span => ({
        seq,
        from: START + from * 1000,
        to: START + to * 1000,
        files: Uint32Array.from(files, path => paths.indexOf(path)),
        seconds: Float64Array.from(seconds),
        isReplay: false,
        lease: null,
        failed: null,
        decision: null,
      }),
    );
    return { node_index, start: spans[0]?.from ?? null, recordedAt: spans.at(-1)?.to ?? null, end: spans.at(-1)?.to ?? null, spans };
  });
  return {
    kind: 'queue',
    start: START,
    end: Math.max(START, ...lanes.map(({ end }) => end ?? START)),
    paused: 0,
    isRunning: false,
    files: {
      paths,
      estimates: Float64Array.from(paths, path => estimates[path] ?? recorded.get(path)!),
      isGuess: new Uint8Array(paths.length),
    },
    nodes: lanes,
  };
}
