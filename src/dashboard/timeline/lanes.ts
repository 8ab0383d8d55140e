import type { LaneAnswer, SpanAnswer, TimelineAnswer } from '../../protocol/answers/timeline.js';
import { pieceOf } from '../../protocol/piece-path.js';

/** Flags of a run of a file. */
export const FAILED = 1;
/** The run took longer than its estimate, by more than chance. */
export const OVER = 2;
/** The file was handed out and not recorded: the place of its run is guessed from the estimates. */
export const UNRECORDED = 4;
/** The node had it before. */
export const REPEATED = 8;
/** The node has its batch and is at work: most clients record at the end of a node. */
export const RUNNING = 16;
/** Like UNRECORDED, and no other run of the file was recorded. */
export const MISSING = 32;
/** It failed, and the repository mutes each of its failures. */
export const MUTED = 64;
/** It failed, and passed when it ran again. If its test runner did that, the run has not FAILED. */
export const FLAKY = 128;

/** A file is over its estimate from this ratio on, and by at least these seconds. */
const OVER_RATIO = 1.25;
const OVER_SECONDS = 0.5;

/** A node's runs of files, as columns in the order of time. Seconds since the start of the build. */
export interface Lane {
  node: number;
  start: number | null;
  /** It never started, and the build waited for it: a queue waits for no node. */
  isMissed: boolean;
  end: number | null;
  isRecorded: boolean;
  from: Float64Array;
  to: Float64Array;
  /** End of the estimate, or `to` if that is earlier. */
  expected: Float64Array;
  /** Recorded; NaN: not recorded. */
  seconds: Float64Array;
  /** Indices into the paths of the timeline. */
  file: Uint32Array;
  flags: Uint8Array;
  /** The index into `batches`. */
  batch: Uint32Array;
  batches: Batch[];
}

export interface Batch {
  /** Its number in the queue; null: a split or recordings. */
  number: number | null;
  from: number;
  /** When its files had ended; the rest until `to` is a gap. */
  filesEnd: number;
  to: number;
  lease: SpanAnswer['lease'];
  isRepeat: boolean;
}

type LaneFacts = Pick<TimelineAnswer, 'kind' | 'estimates' | 'is_guess' | 'is_running'>;

/** Places the files of each batch one after another. Batches do not overlap; files that took longer than their batch are drawn shorter. */
export function lanesOf(timeline: LaneFacts & Pick<TimelineAnswer, 'nodes'>): Lane[] {
  const lanes = timeline.nodes.map(node => laneOf(node, timeline));
  markMissing(lanes, timeline.estimates.length);
  return lanes;
}

function markMissing(lanes: readonly Lane[], count: number): void {
  const isRecorded = new Uint8Array(count);
  for (const { file, seconds } of lanes) for (const [run, index] of file.entries()) if (!Number.isNaN(seconds[run])) isRecorded[index] = 1;
  for (const { file, flags } of lanes)
    for (const [run, index] of file.entries()) if (flags[run]! & UNRECORDED && !isRecorded[index]) flags[run]! |= MISSING;
}

function laneOf({ node_index, start, end, recorded, spans }: LaneAnswer, { kind, estimates, is_guess, is_running }: LaneFacts): Lane {
  const runs = spans.reduce((sum, { files }) => sum + files.length, 0);
  const lane: Lane = {
    node: node_index,
    start,
    isMissed: start === null && kind !== 'queue',
    end,
    isRecorded: recorded,
    from: new Float64Array(runs),
    to: new Float64Array(runs),
    expected: new Float64Array(runs),
    seconds: new Float64Array(runs),
    file: new Uint32Array(runs),
    flags: new Uint8Array(runs),
    batch: new Uint32Array(runs),
    batches: [],
  };
  let run = 0;
  for (const [index, span] of spans.entries()) {
    const isUnrecorded = span.files.length > 0 && span.seconds.every(seconds => seconds === null);
    const isCurrent = is_running && isUnrecorded && span.lease === null && (!recorded || index === spans.length - 1);
    const durations = isUnrecorded ? span.files.map(file => estimates[file] ?? 0) : span.seconds.map(seconds => seconds ?? 0);
    const room = span.to - span.from;
    const sum = durations.reduce((sum, seconds) => sum + seconds, 0);
    const scale = sum > room ? room / sum : 1;
    const failed = new Set(span.failed);
    let at = span.from;
    for (const [i, file] of span.files.entries()) {
      const estimate = estimates[file] ?? null;
      const seconds = span.seconds[i] ?? null;
      lane.from[run] = at;
      lane.to[run] = at += durations[i]! * scale;
      lane.expected[run] = Math.min(lane.to[run]!, lane.from[run]! + (estimate ?? Infinity) * scale);
      lane.seconds[run] = seconds ?? Number.NaN;
      lane.file[run] = file;
      lane.batch[run] = lane.batches.length;
      lane.flags[run] =
        (failed.has(file) ? FAILED : 0) |
        (span.muted?.includes(file) ? MUTED : 0) |
        (span.flaky?.includes(file) ? FLAKY : 0) |
        (isOver(seconds, is_guess[file] === 1 ? null : estimate) ? OVER : 0) |
        (isCurrent ? RUNNING : seconds === null ? UNRECORDED : 0) |
        (span.is_replay ? REPEATED : 0);
      run++;
    }
    const { batch: number, from, to, lease, is_replay: isRepeat } = span;
    lane.batches.push({ number, from, filesEnd: at, to, lease, isRepeat });
  }
  return lane;
}

/** Texts on the pieces among the paths of a timeline, by their indices: "2/3" is the second one of three. */
export function pieceTexts(paths: readonly string[]): Map<number, string> {
  return new Map(
    paths.flatMap((path, file) => {
      const piece = pieceOf(path);
      return piece ? [[file, `${piece.number}/${piece.count}`] as const] : [];
    }),
  );
}

/** How a run failed: `failed, muted`; empty: it did not, as far as it is known. */
export function failureText(flags: number): string {
  return [flags & FAILED ? 'failed' : '', flags & MUTED ? 'muted' : '', flags & FLAKY ? 'flaky' : ''].filter(Boolean).join(', ');
}

/** Reports whether a duration is longer than its estimate by more than chance. @param estimate null: there is none, or it was guessed */
export function isOver(seconds: number | null, estimate: number | null): boolean {
  return seconds !== null && estimate !== null && seconds > estimate * OVER_RATIO && seconds - estimate > OVER_SECONDS;
}

/** Returns the indices of lanes in the order of their ends, the last one first. Those that never started are at the end. */
export function lastFirst(lanes: readonly Lane[]): number[] {
  const endOf = (lane: number) => lanes[lane]!.end ?? -1;
  return [...lanes.keys()].sort((a, b) => endOf(b) - endOf(a));
}

/** Returns the lane that ended last, and how many seconds after the one before. Null: fewer than two nodes ended. */
export function lastLane(lanes: readonly Lane[]): { lane: Lane; after: number } | null {
  const ended = lanes.filter(({ end, isRecorded }) => end !== null && isRecorded).sort((a, b) => b.end! - a.end!);
  return ended.length < 2 ? null : { lane: ended[0]!, after: ended[0]!.end! - ended[1]!.end! };
}
