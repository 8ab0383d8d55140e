import { fileOf } from '../../../protocol/test-case.js';
import type { Run } from '../../engine/ports/builds.js';
import type { Millis } from '../../engine/ports/store.js';
import { codeOf, isFailure, outcomeOf } from '../../engine/test-file.js';
import { addRun, draftSpan, millisecondsIn, patienceWith } from './draft-span.js';
import type { FileColumns } from './file-columns.js';
import type { Lanes } from './queue-lanes.js';
import type { NodeLane, Span } from './timeline.js';

const UNTOLD = codeOf(undefined);

/** Plans and records of nodes, by node and in the order of recording. */
export interface RecordedHistory {
  nodeTotal: number;
  /** By node: its planned files; empty: of recordings only. */
  planned: readonly (readonly number[])[];
  runs: readonly Run[];
  /** When the CI run began; null: unknown. */
  beganAt: Millis | null;
}

/**
 * Makes a lane of each node of a split, or of a CI run of which only recordings are known: a span for each run, which began when the node asked for
 * its files, as far as that is known, and ended when it was recorded. Times are milliseconds since 1970.
 */
export function recordedLanes({ nodeTotal, planned, runs, beganAt }: RecordedHistory, columns: FileColumns, now: Millis): Lanes {
  const runsOf = Array.from({ length: nodeTotal }, (): Run[] => []);
  for (const run of runs) runsOf[run.node_index]?.push(run);
  // Where some clients do not tell outcomes, nobody knows that no file failed.
  const areTold = runs.every(({ outcomes }) => !outcomes.includes(UNTOLD));
  let steadyFor = Infinity;
  const nodes = runsOf.map((own, node_index): NodeLane => {
    const files = planned[node_index] ?? [];
    if (own.length > 0) return recordedLane(node_index, files, own, { beganAt, areTold }, columns);
    if (beganAt === null || files.length === 0) return { node_index, start: null, recordedAt: null, restartedAt: [], end: null, spans: [] };
    const span = draftSpan(beganAt, beganAt, files);
    const patience = patienceWith(span, columns, now);
    if (patience === null) return { node_index, start: null, recordedAt: null, restartedAt: [], end: null, spans: [span] };
    steadyFor = Math.min(steadyFor, patience);
    const end = (span.to = Math.max(beganAt, now));
    return { node_index, start: beganAt, recordedAt: null, restartedAt: [], end, spans: [span] };
  });
  // Nodes that record at their end do not say that they were cancelled.
  return { nodes, isCancelled: false, steadyFor, now };
}

function recordedLane(
  node_index: number,
  files: readonly number[],
  runs: readonly Run[],
  { beganAt, areTold }: { beganAt: Millis | null; areTold: boolean },
  columns: FileColumns,
): NodeLane {
  const spans: Span[] = [];
  let last: Millis | null = beganAt;
  // A retry that ran nothing moves no end.
  for (const run of runs.filter(({ paths }, i) => i === 0 || paths.length > 0)) {
    const at: Millis = Math.max(run.created_at, last ?? -Infinity);
    const from = Math.max(last ?? -Infinity, run.asked_at ?? at - millisecondsIn(run));
    const span = draftSpan(from, at, files, { is_replay: spans.length > 0 });
    addRun(run, [span], columns);
    addFailures(run, span, columns, areTold);
    spans.push(span);
    last = at;
  }
  dropUnrecorded(spans);
  // A job may record its files in parts. One that was run again records some of them again.
  const had = new Set<number>();
  const repeats = spans.filter(({ files }) => {
    const isRepeat = files.some(file => had.has(file));
    for (const file of files) had.add(file);
    return isRepeat;
  });
  return { node_index, start: spans[0]!.from, recordedAt: last, restartedAt: repeats.map(({ from }) => from), end: last, spans };
}

/** Leaves planned files that no run recorded in the last span only, and the others in the spans of the runs that recorded them. */
function dropUnrecorded(spans: readonly Span[]): void {
  const recorded = new Set(spans.flatMap(({ files, seconds }) => files.filter((_, i) => seconds[i] !== null)));
  for (const span of spans) {
    const isLast = span === spans.at(-1);
    const kept = span.files.flatMap((file, i) => (span.seconds[i] !== null || (isLast && !recorded.has(file)) ? [i] : []));
    span.files = kept.map(i => span.files[i]!);
    span.seconds = kept.map(i => span.seconds[i]!);
    // How the others ended, their node did not tell.
    if (span.seconds.includes(null)) span.failed = null;
  }
}

/** Adds to the span of a run what failed in it. @param areTold all clients of the CI run tell outcomes */
function addFailures({ paths, outcomes }: Run, span: Span, columns: FileColumns, areTold: boolean): void {
  const failed = new Set<number>();
  const muted = new Set<number>();
  for (const [i, path] of paths.entries()) {
    const outcome = outcomeOf(outcomes[i]!);
    if (!isFailure(outcome)) continue;
    const file = columns.find(path) ?? columns.find(fileOf(path) ?? path);
    if (file === undefined) continue;
    failed.add(file);
    if (outcome === 'muted') muted.add(file);
  }
  if (areTold || failed.size > 0) span.failed = [...failed];
  if (muted.size > 0) span.muted = [...muted];
}
